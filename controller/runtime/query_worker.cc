#include "controller/runtime/query_worker.h"

#include <unistd.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/absl_view.h"
#include "base/exit_codes.h"
#include "base/file_io.h"
#include "base/link_settings.h"
#include "base/message_json.h"
#include "matrix/store/sandboxed_query.h"

namespace pyptox::controller {
namespace {

absl::StatusOr<std::string> ReadStdin() {
  std::string text;
  char buffer[64 * 1024];
  while (true) {
    const ssize_t n = read(STDIN_FILENO, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "stdin");
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
    if (text.size() > kMaxMessageBytes) return absl::InvalidArgumentError("the statement is too long");
  }
}

absl::Status Answer(const std::string& database) {
  if (auto status = store::LimitThisProcess(); !status.ok()) return status;
  const auto sql = ReadStdin();
  if (!sql.ok()) return sql.status();
  const auto response = store::RunSandboxedQuery(database, *sql);
  if (!response.ok()) return response.status();
  const auto json = MessageToCanonicalJson(*response);
  return json.ok() ? WriteAll(STDOUT_FILENO, *json) : json.status();
}

}  // namespace

int RunQueryWorker(const std::string& database) {
  const absl::Status status = Answer(database);
  if (status.ok()) return kExitPass;
  (void)WriteAll(STDERR_FILENO, StdView(status.message()));
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return kExitData;
    case absl::StatusCode::kResourceExhausted:
      return kExitUnavailable;
    default:
      return kExitInternal;
  }
}

}  // namespace pyptox::controller
