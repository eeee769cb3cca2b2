// pyptox-ctl artifact
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/file_io.h"
#include "base/sha256.h"
#include "base/unique_fd.h"
#include "ctl/commands/commands.h"
#include "reports/tables.h"

namespace pyptox::ctl {
namespace {

struct ArtifactOptions {
  uint64_t job = 0;
  std::string name;
  std::string to;
};

void List(Session& session, const ArtifactOptions& options) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return;
  absl::StatusOr<v1::ListArtifactsResponse> response = (*client)->ListArtifacts(options.job);
  if (ValueOrFail(session, response) == nullptr) return;
  session.Show({{"artifacts", reports::ArtifactsTable(*response), JsonList(response->artifacts())}});
}

// Downloads to a temporary name, checks the digest, renames. `local` tells whether an error is this machine's.
absl::Status Fetch(Client& client, const std::string& sha256, const std::string& to, bool* local) {
  *local = true;
  const std::string temporary = fmt::format("{}.part.{}", to, getpid());
  UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, temporary);
  Sha256 hash;
  absl::Status written;
  absl::Status status = client.Download(sha256, [&](const std::string& chunk) {
    hash.Update(chunk);
    return written = WriteAll(fd.get(), chunk);
  });
  *local = status.ok() || !written.ok();
  if (status.ok() && hash.Finish().Hex() != sha256)
    status = absl::DataLossError(fmt::format("{}: wrong digest on arrival", to));
  if (status.ok() && rename(temporary.c_str(), to.c_str()) != 0) status = ErrnoStatus(errno, to);
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

void Get(Session& session, const ArtifactOptions& options) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return;
  absl::StatusOr<v1::ListArtifactsResponse> response = (*client)->ListArtifacts(options.job);
  if (ValueOrFail(session, response) == nullptr) return;
  // The last attempt's file of that name.
  const v1::NamedArtifact* found = nullptr;
  for (const v1::NamedArtifact& artifact : response->artifacts()) {
    if (artifact.file().name() == options.name) found = &artifact;
  }
  if (found == nullptr)
    return session.Fail(kExitUsage, fmt::format("job {} has no artifact '{}'", options.job, options.name));
  const std::string to = options.to.empty() ? options.name.substr(options.name.rfind('/') + 1) : options.to;
  bool local = false;
  const absl::Status status = Fetch(**client, found->file().sha256(), to, &local);
  if (!status.ok()) return local ? session.FailLocal(status) : session.Fail(status);
  session.Say(fmt::format("{}: {} bytes, SHA-256 {}", to, found->file().size(), found->file().sha256()));
}

}  // namespace

void AddArtifact(CLI::App& app, Session& session) {
  CLI::App* artifact = app.add_subcommand("artifact", "Files that attempts left")->require_subcommand(1);
  auto options = std::make_shared<ArtifactOptions>();
  CLI::App* list = artifact->add_subcommand("list", "Names, sizes and digests");
  list->add_option("JOB", options->job, "Number of the job")->required()->check(WholeNumber());
  list->callback([&session, options] { List(session, *options); });
  CLI::App* get = artifact->add_subcommand("get", "Copy one here, verified");
  get->add_option("JOB", options->job, "Number of the job")->required()->check(WholeNumber());
  get->add_option("NAME", options->name, "Name as `artifact list` shows it")->required();
  get->add_option("--to", options->to, "File to write (default: the name's last part)");
  get->callback([&session, options] { Get(session, *options); });
}

}  // namespace pyptox::ctl
