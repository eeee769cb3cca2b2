#include "ctl/commands/session.h"

#include <fmt/format.h>

#include <cstdio>

#include "reports/visible_text.h"

namespace pyptox::ctl {
namespace {

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

nlohmann::json Json(const google::protobuf::Message& message) {
  absl::StatusOr<nlohmann::json> json = MessageToJson(message);
  return json.ok() ? *std::move(json) : nlohmann::json();
}

void Session::AddOptions(CLI::App& app) {
  app.add_option("--controller", controller_flag_,
                 "Address, unix:PATH or HOST:PORT. Else PYPTOX_CONTROLLER, the configuration file, the embedded one");
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

void Session::Show(const reports::Table& table, std::string_view noun, const nlohmann::json& value) const {
  if (output_ == "json") {
    const nlohmann::json document = {{"schema_version", kJsonSchema}, {std::string(noun), value}};
    fmt::print("{}\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else if (output_ == "markdown") {
    fmt::print("{}", reports::RenderMarkdown(table));
  } else if (output_ == "csv") {
    fmt::print("{}", reports::RenderCsv(table));
  } else if (output_ == "table") {
    fmt::print("{}", reports::RenderText(table));
  }
  std::fflush(stdout);
}

void Session::Say(const std::string& line) const {
  if (output_ != "table") return;
  fmt::print("{}\n", reports::VisibleText(line));
  std::fflush(stdout);
}

void Session::Fail(const absl::Status& status) { Fail(ExitCodeFor(status), std::string(status.message())); }

void Session::Fail(ExitCode code, const std::string& text) {
  // One error a line: several come joined by newlines.
  std::string_view rest = text;
  while (true) {
    const size_t end = rest.find('\n');
    fmt::print(stderr, "pyptox-ctl: {}\n", reports::VisibleText(rest.substr(0, end)));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  status_ = code;
}

}  // namespace pyptox::ctl
