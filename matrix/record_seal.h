// Records as bytes: sealing, the chain, and verification by anyone who has the JSON. Pure.
#ifndef PYPTOX_MATRIX_RECORD_SEAL_H_
#define PYPTOX_MATRIX_RECORD_SEAL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::matrix {

// Version of the record schema that is written (Record.schema).
inline constexpr uint32_t kRecordSchema = 1;

// `previous_sha256` of the first record.
inline const std::string kNoRecord(64, '0');

// Fills in schema, id, previous digest, counts and not_admitted, and gives the stored form. The record holds everything
// else.
v1::StoredRecord SealRecord(uint64_t id, const std::string& previous_sha256, uint32_t planned, v1::Record* record);

// Reads one exported record: canonical form, known schema, counts that are those of its cases. INVALID_ARGUMENT with
// `name`.
absl::StatusOr<v1::Record> ReadRecord(std::string_view json, std::string_view name);

// Walks a chain from its first record on. Feed the records in order; DATA_LOSS names the first fault.
class ChainVerifier {
 public:
  // Accepts the next record, or says what is wrong: an edit (digest), a wrong place (id, previous digest).
  absl::Status Next(const v1::StoredRecord& stored);
  // The checkpoint (count, newest digest) was kept elsewhere: a chain that is shorter, or another one, is seen.
  absl::Status CheckAgainst(uint64_t count, std::string_view head_sha256) const;

  uint64_t count() const { return count_; }
  const std::string& head() const { return head_; }

 private:
  uint64_t count_ = 0;
  std::string head_ = kNoRecord;
  // All digests so far, 64 characters each: a checkpoint may lie in the middle.
  std::string heads_;
};

}  // namespace pyptox::matrix

#endif  // PYPTOX_MATRIX_RECORD_SEAL_H_
