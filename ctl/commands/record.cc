// pyptox-ctl record
#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

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
  session.Show(reports::RecordsTable(records), "records", values);
}

void Show(Session& session, const RecordOptions& options) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return;
  absl::StatusOr<v1::StoredRecord> stored = (*client)->GetRecord(options.id);
  if (ValueOrFail(session, stored) == nullptr) return;
  absl::StatusOr<v1::Record> record = Parse(*stored);
  if (ValueOrFail(session, record) == nullptr) return;
  if (session.json()) return session.Show({}, "record", WithDigest(*record, stored->sha256()));
  session.Show(reports::RecordsTable({*record}), "record", {});
  for (const std::string& sentence : record->evidence().not_covered()) session.Say("not covered: " + sentence);
  for (const v1::Toolchain& tool : record->evidence().toolchains()) {
    session.Say(fmt::format("tool {}: {} {} {}", tool.name(), tool.path(), tool.version(), tool.sha256()));
  }
  const reports::Table trouble = reports::TroubleTable(*record);
  if (!trouble.rows.empty()) session.Show(trouble, "cases", {});
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
  absl::Status status = MakeFolders(options.folder, 0755);
  uint64_t last = options.id;
  if (options.all && status.ok()) {
    absl::StatusOr<v1::ServerInfo> info = (*client)->GetServerInfo();
    if (ValueOrFail(session, info) == nullptr) return;
    last = info->records();
  }
  uint64_t count = 0;
  for (uint64_t id = options.all ? 1 : options.id; status.ok() && id <= last; ++id, ++count) {
    absl::StatusOr<v1::StoredRecord> stored = (*client)->GetRecord(id);
    status = stored.ok() ? WriteRecord(options.folder, *stored) : stored.status();
  }
  if (!status.ok()) return session.Fail(status);
  session.Say(fmt::format("{} records exported", count));
}

absl::Status CheckCheckpoint(const matrix::ChainVerifier& chain, const std::string& checkpoint) {
  if (checkpoint.empty()) return absl::OkStatus();
  const size_t colon = checkpoint.find(':');
  uint64_t count = 0;
  const auto [end, error] =
      std::from_chars(checkpoint.data(), checkpoint.data() + std::min(colon, checkpoint.size()), count);
  if (colon == std::string::npos || error != std::errc() || end != checkpoint.data() + colon) {
    return absl::InvalidArgumentError(fmt::format("--checkpoint {}: not COUNT:SHA256", checkpoint));
  }
  return chain.CheckAgainst(count, std::string_view(checkpoint).substr(colon + 1));
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

// Several records are a chain when they are all there from the first on; fewer are verified one by one.
absl::Status VerifyFiles(const RecordOptions& options, matrix::ChainVerifier* chain, size_t* count) {
  absl::StatusOr<std::vector<std::string>> files = FilesOf(options.paths);
  if (!files.ok()) return files.status();
  bool chained = true;
  for (const std::string& file : *files) {
    absl::StatusOr<std::string> text = ReadFile(file, kMaxRecordBytes);
    if (!text.ok()) return text.status();
    absl::StatusOr<v1::Record> record = matrix::ReadRecord(*text, file);
    if (!record.ok()) return record.status();
    if (*count == 0) chained = record->id() == 1;
    ++*count;
    if (!chained) continue;
    v1::StoredRecord stored;
    stored.set_id(record->id());
    stored.set_json(*text);
    stored.set_sha256(Sha256Of(*text).Hex());
    if (absl::Status status = chain->Next(stored); !status.ok()) return status;
  }
  if (!chained && !options.checkpoint.empty()) {
    return absl::InvalidArgumentError("--checkpoint needs all records from the first on");
  }
  return absl::OkStatus();
}

absl::Status VerifyServer(Client& client, matrix::ChainVerifier* chain, size_t* count) {
  absl::StatusOr<v1::ServerInfo> info = client.GetServerInfo();
  if (!info.ok()) return info.status();
  for (uint64_t id = 1; id <= info->records(); ++id, ++*count) {
    absl::StatusOr<v1::StoredRecord> stored = client.GetRecord(id);
    if (!stored.ok()) return stored.status();
    if (absl::Status status = chain->Next(*stored); !status.ok()) return status;
  }
  return chain->CheckAgainst(info->records(), info->head_sha256());
}

void Verify(Session& session, const RecordOptions& options) {
  matrix::ChainVerifier chain;
  size_t count = 0;
  absl::Status status;
  if (options.paths.empty()) {
    absl::StatusOr<Client*> client = session.client();
    if (ValueOrFail(session, client) == nullptr) return;
    status = VerifyServer(**client, &chain, &count);
  } else {
    status = VerifyFiles(options, &chain, &count);
  }
  if (status.ok()) status = CheckCheckpoint(chain, options.checkpoint);
  if (!status.ok()) return session.Fail(status);
  const bool whole = chain.count() == count;
  const reports::Table table{{"VERIFIED", "CHAIN", "CHECKPOINT"},
                             {{fmt::format("{} records", count), whole ? "whole" : "part of one",
                               whole ? fmt::format("{}:{}", chain.count(), chain.head()) : ""}}};
  session.Show(table, "verified", {{"records", count}, {"chain", whole}, {"checkpoint", table.rows[0][2]}});
}

}  // namespace

void AddRecord(CLI::App& app, Session& session) {
  CLI::App* record = app.add_subcommand("record", "Evidence: immutable, chained")->require_subcommand(1);
  auto options = std::make_shared<RecordOptions>();
  CLI::App* list = record->add_subcommand("list", "Newest first");
  list->add_option("--suite", options->suite, "Only of this suite");
  list->add_option("--lane", options->lane, "Only of this lane");
  list->add_option("--job", options->job, "Only of this job");
  list->add_option("--limit", options->limit, "At most this many (default 100)")->check(CLI::Range(1, 1000));
  list->callback([&session, options] { List(session, *options); });
  CLI::App* show = record->add_subcommand("show", "One record; --output json shows all of it");
  show->add_option("RECORD", options->id, "Number of the record")->required();
  show->callback([&session, options] { Show(session, *options); });
  CLI::App* save = record->add_subcommand("export", "Write records as files, byte for byte as stored");
  save->add_option("RECORD", options->id, "Number of the record");
  save->add_flag("--all", options->all, "All records");
  save->add_option("--dir", options->folder, "Folder to write to")->required();
  save->callback([&session, options] { Export(session, *options); });
  CLI::App* verify =
      record->add_subcommand("verify", "Verify the controller's chain, or exported files without a controller");
  verify->add_option("PATH", options->paths, "Exported files or folders of them (default: ask the controller)");
  verify->add_option("--checkpoint", options->checkpoint,
                     "COUNT:SHA256 as an earlier verify printed it: sees truncation");
  verify->callback([&session, options] { Verify(session, *options); });
}

}  // namespace pyptox::ctl
