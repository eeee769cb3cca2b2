#include "ctl/commands/session.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/controller_address.h"
#include "reports/visible_text.h"

namespace pyptox::ctl {
namespace {

// Of what a controller answered. 69 and 75 mean: wait and try again.
ExitCode ExitCodeFor(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kDataLoss:
      return kExitData;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kOutOfRange:
      return kExitUsage;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kPermissionDenied:
      return kExitUnavailable;
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kAborted:
      return kExitBusy;
    default:
      return kExitInternal;
  }
}

}  // namespace

std::string UserName() {
  const passwd* user = getpwuid(getuid());
  return user == nullptr ? fmt::format("uid {}", getuid()) : user->pw_name;
}

nlohmann::json Json(const google::protobuf::Message& message) {
  absl::StatusOr<nlohmann::json> json = MessageToJson(message);
  return json.ok() ? *std::move(json) : nlohmann::json();
}

void Session::AddOptions(CLI::App& app) {
  app.add_option("--controller", controller_flag_,
                 "Address, unix:PATH or HOST:PORT. Else PYPTOX_CONTROLLER, the configuration file, the embedded one")
      // An empty one, of a script's unset variable, must not lead to another controller.
      ->check([](const std::string& text) { return std::string(CheckControllerAddress(text).message()); });
  app.add_option("--output", output_, "How results are shown: table, json, quiet, markdown or csv (default table)")
      ->check(CLI::IsMember({"table", "json", "quiet", "markdown", "csv"}));
}

absl::StatusOr<Client*> Session::client() {
  if (client_ == nullptr) {
    absl::StatusOr<ControllerAddress> found = address();
    if (!found.ok()) return found.status();
    client_ = std::make_unique<Client>(found->address);
  }
  return client_.get();
}

void Session::Show(const std::vector<Section>& sections) {
  if (output_ == "json") {
    nlohmann::json document = {{"schema_version", kJsonSchema}};
    for (const Section& section : sections) document[section.noun] = section.value;
    return Write(document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  std::string text;
  for (const Section& section : sections) {
    if (!text.empty()) text += "\n";
    if (output_ == "markdown") text += reports::RenderMarkdown(section.table);
    if (output_ == "csv") text += reports::RenderCsv(section.table);
    if (output_ == "table") text += reports::RenderText(section.table);
  }
  Write(text);
}

void Session::Say(const std::string& line) {
  if (output_ == "table") Write(reports::VisibleText(line) + "\n");
}

void Session::Note(const std::string& line) const {
  if (!quiet()) fmt::print(stderr, "pyptox-ctl: {}\n", reports::VisibleText(line));
}

void Session::Write(const std::string& text) {
  const size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  const bool flushed = std::fflush(stdout) == 0;
  if ((written != text.size() || !flushed) && status_ != kExitIo) {
    Fail(kExitIo, fmt::format("standard output: {}", std::strerror(errno)));
  }
}

void Session::Fail(const absl::Status& status) {
  std::string text(status.message());
  const absl::StatusOr<ControllerAddress> named = address();
  if (absl::IsUnavailable(status) && named.ok() && named->source == "default") {
    text +=
        fmt::format("; `pyptox-controller --data {}/controller` serves what `run` recorded", surroundings_.data_folder);
  }
  Fail(ExitCodeFor(status), text);
}

void Session::FailLocal(const absl::Status& status) {
  const bool contents = absl::IsInvalidArgument(status) || absl::IsDataLoss(status) || absl::IsOutOfRange(status);
  Fail(contents ? kExitData : kExitIo, std::string(status.message()));
}

void Session::Fail(ExitCode code, const std::string& text) {
  std::string_view rest = text;
  while (true) {
    const size_t end = rest.find('\n');
    fmt::print(stderr, "pyptox-ctl: {}\n", reports::VisibleText(rest.substr(0, end)));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (status_ != kExitIo) status_ = code;
}

}  // namespace pyptox::ctl
