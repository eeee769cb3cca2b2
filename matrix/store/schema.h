// The database's schema: tables behind, published views in front (docs/schema.md), and the way from older versions.
#ifndef PYPTOX_MATRIX_STORE_SCHEMA_H_
#define PYPTOX_MATRIX_STORE_SCHEMA_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "matrix/store/sqlite.h"

namespace pyptox::store {

// SQL that leads from version i to version i + 1, for i = 0, 1, ...
std::span<const std::string_view> Migrations();

// Version that this program writes; PRAGMA user_version holds it.
uint32_t SchemaVersion();

// Brings an empty or older database to the newest version in one transaction. FAILED_PRECONDITION for a newer one and
// for another program's.
absl::Status Migrate(const Database& database, std::span<const std::string_view> migrations = Migrations());

// DATA_LOSS names the first table, index, view or trigger that is not as the migrations make it: a view that was
// changed would show a matrix that no record says.
absl::Status CheckSchema(const Database& database);

}  // namespace pyptox::store

#endif  // PYPTOX_MATRIX_STORE_SCHEMA_H_
