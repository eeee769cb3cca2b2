// Records as bytes: sealing, the chain, and verification by anyone who has the JSON. Pure.
#ifndef PYPTOX_MATRIX_RECORD_SEAL_H_
#define PYPTOX_MATRIX_RECORD_SEAL_H_

#include <cstdint>
#include <optional>
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

// How long the chain was at some time, and what its newest record was. Kept elsewhere, it shows a chain that was cut
// or rewritten.
struct Checkpoint {
  uint64_t count = 0;
  std::string head_sha256 = kNoRecord;
};

// Walks records in the order of their ids; DATA_LOSS names the first fault. What it sees needs nothing but the records'
// own bytes, so anyone who has exported files can use it.
class ChainVerifier {
 public:
  enum class Extent {
    kWhole,      // every record from the first one on
    kSelection,  // some of them: a link is looked at where both of its ends are there
  };
  explicit ChainVerifier(Extent extent = Extent::kWhole, std::optional<Checkpoint> checkpoint = std::nullopt);

  // Accepts the next record and reads it, or says what is wrong: an edit (digest), a wrong place (id, previous digest).
  absl::StatusOr<v1::Record> Next(const v1::StoredRecord& stored);
  // Call at the end: is the checkpoint's record there? Only a whole chain can be too short.
  absl::Status Finish() const;

  // Records accepted, and the newest one.
  uint64_t count() const { return count_; }
  const std::string& head() const { return head_; }

 private:
  const Extent extent_;
  const std::optional<Checkpoint> checkpoint_;
  uint64_t count_ = 0;
  uint64_t last_id_ = 0;
  std::string head_ = kNoRecord;
};

}  // namespace pyptox::matrix

#endif  // PYPTOX_MATRIX_RECORD_SEAL_H_
