#include "matrix/record_seal.h"

#include <fmt/format.h>

#include "base/canonical_json.h"
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
  absl::StatusOr<nlohmann::json> value = ParseJson(json, name);
  if (!value.ok()) return value.status();
  absl::StatusOr<std::string> canonical = CanonicalJson(*value);
  if (!canonical.ok()) return canonical.status();
  if (*canonical != json) return fault("not in canonical form: it was edited or written by something else");
  v1::Record record;
  if (absl::Status status = JsonToMessage(json, name, &record); !status.ok()) return status;
  if (record.schema() != kRecordSchema)
    return fault(fmt::format("record schema {} is not known here", record.schema()));
  const v1::CaseCounts counts = CountCases(record.evidence().cases(), record.counts().planned());
  if (!google::protobuf::util::MessageDifferencer::Equals(counts, record.counts())) {
    return fault("the counts are not those of the cases");
  }
  return record;
}

absl::Status ChainVerifier::Next(const v1::StoredRecord& stored) {
  const std::string name = fmt::format("record {}", stored.id());
  const auto fault = [&](std::string_view text) { return absl::DataLossError(fmt::format("{}: {}", name, text)); };
  if (stored.id() != count_ + 1) return fault(fmt::format("stands where record {} is due", count_ + 1));
  if (Sha256Of(stored.json()).Hex() != stored.sha256()) return fault("its bytes do not have its digest");
  absl::StatusOr<v1::Record> record = ReadRecord(stored.json(), name);
  if (!record.ok()) return absl::DataLossError(record.status().message());
  if (record->id() != stored.id()) return fault(fmt::format("its own id is {}", record->id()));
  if (record->previous_sha256() != head_) return fault("does not follow the record before it");
  ++count_;
  head_ = stored.sha256();
  heads_ += head_;
  return absl::OkStatus();
}

absl::Status ChainVerifier::CheckAgainst(uint64_t count, std::string_view head_sha256) const {
  if (count > count_) {
    return absl::DataLossError(fmt::format("the checkpoint has {} records, the chain {}: it was cut", count, count_));
  }
  const std::string_view then =
      count == 0 ? std::string_view(kNoRecord) : std::string_view(heads_).substr(64 * (count - 1), 64);
  if (then != head_sha256) {
    return absl::DataLossError(fmt::format("record {} is not the one of the checkpoint", count));
  }
  return absl::OkStatus();
}

}  // namespace pyptox::matrix
