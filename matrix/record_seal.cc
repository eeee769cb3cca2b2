#include "matrix/record_seal.h"

#include <fmt/format.h>

#include "base/message_json.h"
#include "base/sha256.h"
#include "google/protobuf/util/message_differencer.h"
#include "matrix/admission.h"
#include "matrix/verdict.h"

namespace pyptox::matrix {

v1::StoredRecord SealRecord(uint64_t id, const std::string& previous_sha256, uint32_t planned, v1::Record* record) {
  record->set_schema(kRecordSchema);
  record->set_id(id);
  record->set_previous_sha256(previous_sha256);
  *record->mutable_counts() = CountCases(record->evidence().cases(), planned);
  record->set_not_admitted(NotAdmitted(*record));
  v1::StoredRecord stored;
  stored.set_id(id);
  // Every string field came over the wire, where protobuf demands UTF-8.
  stored.set_json(MessageToCanonicalJson(*record).value());
  stored.set_sha256(Sha256Of(stored.json()).Hex());
  return stored;
}

absl::StatusOr<v1::Record> ReadRecord(std::string_view json, std::string_view name) {
  const auto fault = [&](std::string_view text) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", name, text));
  };
  v1::Record record;
  if (absl::Status status = JsonToMessage(json, name, &record); !status.ok()) return status;
  absl::StatusOr<std::string> canonical = MessageToCanonicalJson(record);
  if (!canonical.ok()) return canonical.status();
  if (*canonical != json) return fault("not in canonical form: it was edited or written by something else");
  if (record.schema() != kRecordSchema)
    return fault(fmt::format("record schema {} is not known here", record.schema()));
  const v1::CaseCounts counts = CountCases(record.evidence().cases(), record.counts().planned());
  if (!google::protobuf::util::MessageDifferencer::Equals(counts, record.counts())) {
    return fault("the counts are not those of the cases");
  }
  return record;
}

ChainVerifier::ChainVerifier(Extent extent, std::optional<Checkpoint> checkpoint)
    : extent_(extent), checkpoint_(std::move(checkpoint)) {}

absl::StatusOr<v1::Record> ChainVerifier::Next(const v1::StoredRecord& stored) {
  const std::string name = fmt::format("record {}", stored.id());
  const auto fault = [&](std::string_view text) { return absl::DataLossError(fmt::format("{}: {}", name, text)); };
  if (extent_ == Extent::kWhole && stored.id() != last_id_ + 1) {
    return fault(fmt::format("stands where record {} is due", last_id_ + 1));
  }
  if (stored.id() <= last_id_) return fault(fmt::format("stands behind record {}", last_id_));
  if (Sha256Of(stored.json()).Hex() != stored.sha256()) return fault("its bytes do not have its digest");
  absl::StatusOr<v1::Record> record = ReadRecord(stored.json(), name);
  if (!record.ok()) return absl::DataLossError(record.status().message());
  if (record->id() != stored.id()) return fault(fmt::format("its own id is {}", record->id()));
  if (stored.id() == last_id_ + 1 && record->previous_sha256() != head_) {
    return fault("does not follow the record before it");
  }
  if (checkpoint_ && checkpoint_->count == stored.id() && checkpoint_->head_sha256 != stored.sha256()) {
    return fault("is not the one of the checkpoint");
  }
  ++count_;
  last_id_ = stored.id();
  head_ = stored.sha256();
  return record;
}

absl::Status ChainVerifier::Finish() const {
  if (!checkpoint_ || extent_ == Extent::kSelection || checkpoint_->count <= count_) return absl::OkStatus();
  return absl::DataLossError(
      fmt::format("the checkpoint has {} records, the chain {}: it was cut", checkpoint_->count, count_));
}

}  // namespace pyptox::matrix
