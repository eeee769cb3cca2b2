// pyptox-ctl record
#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/file_io.h"
#include "base/sha256.h"
#include "ctl/commands/commands.h"
#include "matrix/record_seal.h"
#include "reports/tables.h"

namespace pyptox::ctl {
namespace {

// A record of 4096 cases with long reasons stays below this.
constexpr uint64_t kMaxRecordBytes = 64 << 20;

struct RecordOptions {
  uint64_t id = 0;
  std::string suite;
  std::string lane;
  uint64_t job = 0;
  uint32_t limit = 0;
  bool all = false;
  std::string folder;
  std::vector<std::string> paths;
  std::string checkpoint;
};

absl::StatusOr<v1::Record> Parse(const v1::StoredRecord& stored) {
  return matrix::ReadRecord(stored.json(), fmt::format("record {}", stored.id()));
}

nlohmann::json WithDigest(const v1::Record& record, const std::string& sha256) {
  nlohmann::json json = Json(record);
  json["sha256"] = sha256;
  return json;
}

void List(Session& session, const RecordOptions& options) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return;
  v1::ListRecordsRequest request;
  request.set_suite(options.suite);
  request.set_lane(options.lane);
  request.set_job_id(options.job);
  request.set_limit(options.limit);
  absl::StatusOr<v1::ListRecordsResponse> response = (*client)->ListRecords(request);
  if (ValueOrFail(session, response) == nullptr) return;
  std::vector<v1::Record> records;
  nlohmann::json values = nlohmann::json::array();
  for (const v1::StoredRecord& stored : response->records()) {
    absl::StatusOr<v1::Record> record = Parse(stored);
    if (ValueOrFail(session, record) == nullptr) return;
    values.push_back(WithDigest(*record, stored.sha256()));
    records.push_back(*std::move(record));
  }
  session.Show({{"records", reports::RecordsTable(records), values}});
}

void Show(Session& session, const RecordOptions& options) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return;
  absl::StatusOr<v1::StoredRecord> stored = (*client)->GetRecord(options.id);
  if (ValueOrFail(session, stored) == nullptr) return;
  absl::StatusOr<v1::Record> record = Parse(*stored);
  if (ValueOrFail(session, record) == nullptr) return;
  if (session.json()) return session.Show({{"record", {}, WithDigest(*record, stored->sha256())}});
  std::vector<Section> sections = {{"record", reports::RecordsTable({*record}), {}}};
  reports::Table trouble = reports::TroubleTable({*record});
  if (!trouble.rows.empty()) sections.push_back({"cases_not_passed", std::move(trouble), {}});
  session.Show(sections);
  for (const std::string& sentence : record->evidence().not_covered()) session.Say("not covered: " + sentence);
  for (const v1::Toolchain& tool : record->evidence().toolchains()) {
    session.Say(fmt::format("tool {}: {} {} {}", tool.name(), tool.path(), tool.version(), tool.sha256()));
  }
}

// `record-000012.json`: sorts in order, holds the stored bytes and nothing else.
absl::Status WriteRecord(const std::string& folder, const v1::StoredRecord& stored) {
  return WriteFileAtomically(fmt::format("{}/record-{:06}.json", folder, stored.id()), stored.json(), 0644);
}

void Export(Session& session, const RecordOptions& options) {
  if (options.all != (options.id == 0))
    return session.Fail(kExitUsage, "record export: give a record's number or --all");
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return;
  uint64_t first = options.id;
  uint64_t last = options.id;
  if (options.all) {
    absl::StatusOr<v1::ServerInfo> info = (*client)->GetServerInfo();
    if (ValueOrFail(session, info) == nullptr) return;
    first = 1;
    last = info->records();
  }
  absl::Status written = MakeFolders(options.folder, 0755);
  for (uint64_t id = first; written.ok() && id <= last; ++id) {
    absl::StatusOr<v1::StoredRecord> stored = (*client)->GetRecord(id);
    if (ValueOrFail(session, stored) == nullptr) return;
    written = WriteRecord(options.folder, *stored);
  }
  if (!written.ok()) return session.FailLocal(written);
  session.Say(fmt::format("{} records exported", last - first + 1));
}

absl::StatusOr<matrix::Checkpoint> ParseCheckpoint(const std::string& text) {
  const size_t colon = std::min(text.find(':'), text.size());
  matrix::Checkpoint checkpoint;
  const auto [end, error] = std::from_chars(text.data(), text.data() + colon, checkpoint.count);
  checkpoint.head_sha256 = text.substr(std::min(colon + 1, text.size()));
  if (error != std::errc() || end != text.data() + colon || !Digest::FromHex(checkpoint.head_sha256).ok()) {
    return absl::InvalidArgumentError(fmt::format("{}: not COUNT:SHA256", text));
  }
  if ((checkpoint.count == 0) != (checkpoint.head_sha256 == matrix::kNoRecord)) {
    return absl::InvalidArgumentError(fmt::format("{}: 64 zeros go with 0 records, and with no other count", text));
  }
  return checkpoint;
}

// Files as given; of a folder its *.json, sorted by name.
absl::StatusOr<std::vector<std::string>> FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) return ErrnoStatus(errno, path);
    if (!S_ISDIR(info.st_mode)) {
      files.push_back(path);
      continue;
    }
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), &closedir);
    if (directory == nullptr) return ErrnoStatus(errno, path);
    const size_t first = files.size();
    while (const dirent* entry = readdir(directory.get())) {
      const std::string name = entry->d_name;
      if (name.ends_with(".json")) files.push_back(fmt::format("{}/{}", path, name));
    }
    if (files.size() == first) return absl::InvalidArgumentError(fmt::format("{}: no records (*.json)", path));
    std::sort(files.begin() + static_cast<long>(first), files.end());
  }
  return files;
}

struct Verified {
  size_t records = 0;
  // From the first record on: a checkpoint can be made of it.
  bool whole = true;
  std::string head;
};

// Files that start with record 1 are a chain; others are verified one by one, and linked where both ends are there. A
// checkpoint is of a whole chain, so with one anything else is a fault: the records that were removed may be the first.
absl::StatusOr<Verified> VerifyFiles(const std::vector<std::string>& paths,
                                     const std::optional<matrix::Checkpoint>& checkpoint) {
  absl::StatusOr<std::vector<std::string>> files = FilesOf(paths);
  if (!files.ok()) return files.status();
  std::optional<matrix::ChainVerifier> chain;
  Verified verified;
  for (const std::string& file : *files) {
    absl::StatusOr<std::string> text = ReadFile(file, kMaxRecordBytes);
    if (!text.ok()) return text.status();
    absl::StatusOr<v1::Record> record = matrix::ReadRecord(*text, file);
    if (!record.ok()) return record.status();
    if (!chain.has_value()) {
      verified.whole = record->id() == 1 || checkpoint.has_value();
      using Extent = matrix::ChainVerifier::Extent;
      chain.emplace(verified.whole ? Extent::kWhole : Extent::kSelection, checkpoint);
    }
    v1::StoredRecord stored;
    stored.set_id(record->id());
    stored.set_json(*text);
    stored.set_sha256(Sha256Of(*text).Hex());
    if (absl::Status status = chain->Next(stored).status(); !status.ok()) return status;
  }
  if (absl::Status status = chain->Finish(); !status.ok()) return status;
  verified.records = chain->count();
  verified.head = chain->head();
  return verified;
}

absl::StatusOr<Verified> VerifyServer(Client& client, const std::optional<matrix::Checkpoint>& checkpoint) {
  absl::StatusOr<v1::ServerInfo> info = client.GetServerInfo();
  if (!info.ok()) return info.status();
  matrix::ChainVerifier chain(matrix::ChainVerifier::Extent::kWhole, checkpoint);
  for (uint64_t id = 1; id <= info->records(); ++id) {
    absl::StatusOr<v1::StoredRecord> stored = client.GetRecord(id);
    if (!stored.ok()) return stored.status();
    if (absl::Status status = chain.Next(*stored).status(); !status.ok()) return status;
  }
  if (absl::Status status = chain.Finish(); !status.ok()) return status;
  if (chain.head() != info->head_sha256())
    return absl::DataLossError("the newest record is not the one that the controller names");
  return Verified{chain.count(), true, chain.head()};
}

void Verify(Session& session, const RecordOptions& options) {
  std::optional<matrix::Checkpoint> checkpoint;
  if (!options.checkpoint.empty()) checkpoint = ParseCheckpoint(options.checkpoint).value();
  absl::StatusOr<Verified> verified = absl::InternalError("");
  if (options.paths.empty()) {
    absl::StatusOr<Client*> client = session.client();
    if (ValueOrFail(session, client) == nullptr) return;
    verified = VerifyServer(**client, checkpoint);
  } else {
    verified = VerifyFiles(options.paths, checkpoint);
  }
  if (!verified.ok())
    return options.paths.empty() ? session.Fail(verified.status()) : session.FailLocal(verified.status());
  const std::string made = verified->whole ? fmt::format("{}:{}", verified->records, verified->head) : "";
  const reports::Table table{
      {"VERIFIED", "CHAIN", "CHECKPOINT"},
      {{fmt::format("{} records", verified->records), verified->whole ? "whole" : "part of one", made}}};
  session.Show(
      {{"verified", table, {{"records", verified->records}, {"chain", verified->whole}, {"checkpoint", made}}}});
}

}  // namespace

void AddRecord(CLI::App& app, Session& session) {
  CLI::App* record = app.add_subcommand("record", "Evidence: immutable, chained")->require_subcommand(1);
  auto options = std::make_shared<RecordOptions>();
  CLI::App* list = record->add_subcommand("list", "Newest first");
  list->add_option("--suite", options->suite, "Only of this suite");
  list->add_option("--lane", options->lane, "Only of this lane");
  list->add_option("--job", options->job, "Only of this job")->check(WholeNumber());
  list->add_option("--limit", options->limit, "At most this many (default 100)")->check(WholeNumber(1, 1000));
  list->callback([&session, options] { List(session, *options); });
  CLI::App* show = record->add_subcommand("show", "One record; --output json shows all of it");
  show->add_option("RECORD", options->id, "Number of the record")->required()->check(WholeNumber());
  show->callback([&session, options] { Show(session, *options); });
  CLI::App* save = record->add_subcommand("export", "Write records as files, byte for byte as stored");
  save->add_option("RECORD", options->id, "Number of the record")->check(WholeNumber());
  save->add_flag("--all", options->all, "All records");
  save->add_option("--dir", options->folder, "Folder to write to")->required();
  save->callback([&session, options] { Export(session, *options); });
  CLI::App* verify =
      record->add_subcommand("verify", "Verify the controller's chain, or exported files without a controller");
  verify->add_option("PATH", options->paths, "Exported files or folders of them (default: ask the controller)");
  verify
      ->add_option("--checkpoint", options->checkpoint, "COUNT:SHA256 as an earlier verify printed it: sees truncation")
      ->check([](const std::string& text) { return std::string(ParseCheckpoint(text).status().message()); });
  verify->callback([&session, options] { Verify(session, *options); });
}

}  // namespace pyptox::ctl
