#include "controller/runtime/controller.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_view.h"
#include "base/blob_store.h"
#include "base/exit_codes.h"
#include "controller/core/recover.h"
#include "controller/runtime/artifact_collector.h"
#include "controller/runtime/job_board.h"
#include "controller/runtime/log_files.h"
#include "controller/runtime/loop.h"
#include "controller/runtime/store_bridge.h"
#include "controller/runtime/store_reads.h"
#include "matrix/store/store.h"
#include "spdlog/spdlog.h"

namespace pyptox::controller {
namespace {

// Memory may hold what the disk does not: nothing may leave this process any more. The next start verifies.
[[noreturn]] void StopAtOnce(const absl::Status& status) {
  spdlog::critical("stopping after an I/O error: {}", StdView(status.message()));
  spdlog::default_logger()->flush();
  _exit(kExitIo);
}

void ReportCollection(const absl::StatusOr<uint64_t>& removed) {
  if (!removed.ok()) {
    spdlog::warn("artifacts were not collected: {}", StdView(removed.status().message()));
  } else if (*removed > 0) {
    spdlog::info("removed {} artifacts that nothing names", *removed);
  }
}

}  // namespace

// In the order in which they are made; gone in the other.
struct Controller::Parts {
  explicit Parts(DataFolder held) : folder(std::move(held)) {}

  DataFolder folder;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<StoreReads> reads;
  std::unique_ptr<BlobStore> blobs;
  std::unique_ptr<LogFiles> logs;
  JobBoard board;
  std::unique_ptr<Loop> loop;
  std::unique_ptr<ArtifactCollector> collector;

  absl::Status OpenDatabase();
  absl::Status Open();
  absl::Status StartLoop();
};

absl::Status Controller::Parts::OpenDatabase() {
  auto opened_store = store::Store::Open(folder.database());
  if (!opened_store.ok()) return opened_store.status();
  store = *std::move(opened_store);
  auto opened_reads = StoreReads::Open(folder.database());
  if (!opened_reads.ok()) return opened_reads.status();
  reads = *std::move(opened_reads);
  return reads->Next().VerifyChain();
}

absl::Status Controller::Parts::Open() {
  if (auto status = OpenDatabase(); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(AbslView(folder.database()), ": ", status.message()));
  }
  auto opened_blobs = BlobStore::Open(folder.blobs());
  if (!opened_blobs.ok()) return opened_blobs.status();
  blobs = *std::move(opened_blobs);
  auto opened_logs = LogFiles::Open(folder.logs(), StopAtOnce);
  if (!opened_logs.ok()) return opened_logs.status();
  logs = *std::move(opened_logs);
  return StartLoop();
}

absl::Status Controller::Parts::StartLoop() {
  const auto recovered = LoadRecovered(*store);
  if (!recovered.ok()) return recovered.status();
  auto start = MakeState(*recovered, ReadClocks());
  if (!start.ok()) return absl::DataLossError(start.status().message());
  LoopPorts ports;
  ports.commit = [this](const std::vector<Write>& writes) { return CommitWrites(*store, writes); };
  ports.spec_of = [this](uint64_t job_id) -> absl::StatusOr<v1::JobSpec> {
    auto spec = reads->Next().GetSpec(job_id);
    if (absl::IsNotFound(spec.status())) return v1::JobSpec();
    return spec;
  };
  ports.on_fatal = StopAtOnce;
  ports.logs = logs.get();
  ports.board = &board;
  loop = std::make_unique<Loop>(*std::move(start), std::move(ports));
  collector = std::make_unique<ArtifactCollector>(
      blobs.get(), [this] { return reads->Next().ReachableDigests(); }, ReportCollection);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Controller>> Controller::Open(const std::string& folder) {
  auto held = DataFolder::Open(folder);
  if (!held.ok()) return held.status();
  auto parts = std::make_unique<Parts>(*std::move(held));
  if (auto status = parts->Open(); !status.ok()) return status;
  return std::unique_ptr<Controller>(new Controller(std::move(parts)));
}

Controller::Controller(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Controller::~Controller() = default;

const DataFolder& Controller::folder() const { return parts_->folder; }

RpcPorts Controller::ports() {
  return {parts_->loop.get(), parts_->reads.get(), &parts_->board, parts_->logs.get(), parts_->blobs.get()};
}

}  // namespace pyptox::controller
