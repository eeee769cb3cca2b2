// Runs one SELECT that a person wrote, in a process of its own that can neither write nor run for ever (docs/adr/0004).
#ifndef PYPTOX_MATRIX_STORE_SANDBOXED_QUERY_H_
#define PYPTOX_MATRIX_STORE_SANDBOXED_QUERY_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pyptox/v1/matrix.pb.h"

namespace pyptox::store {

// Limits of one query.
inline constexpr int kQuerySeconds = 2;
inline constexpr uint64_t kQueryMemoryBytes = 256ull << 20;
inline constexpr int kQueryRows = 10'000;
inline constexpr size_t kQueryResultBytes = 4'000'000;

// Limits this process's memory and CPU time, and takes away writing to files, for good. For the query worker, before it
// touches the SQL.
absl::Status LimitThisProcess();

// One read-only SELECT over the published views. INVALID_ARGUMENT with SQLite's words for anything else (several
// statements, writing, PRAGMA, ATTACH, unlisted tables and functions), RESOURCE_EXHAUSTED past a limit.
absl::StatusOr<v1::QueryResponse> RunSandboxedQuery(const std::string& database_path, std::string_view sql);

}  // namespace pyptox::store

#endif  // PYPTOX_MATRIX_STORE_SANDBOXED_QUERY_H_
