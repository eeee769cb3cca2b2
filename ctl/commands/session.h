// What every command shares: the flags before the verb, the connection, and how results are shown.
#ifndef PYPTOX_CTL_COMMANDS_SESSION_H_
#define PYPTOX_CTL_COMMANDS_SESSION_H_

#include <memory>
#include <string>
#include <string_view>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "base/exit_codes.h"
#include "base/message_json.h"
#include "ctl/client/address.h"
#include "ctl/client/client.h"
#include "nlohmann/json.hpp"
#include "reports/table.h"

namespace pyptox::ctl {

// Version of the JSON documents that commands print; raised when a member goes or changes its meaning.
inline constexpr int kJsonSchema = 1;

class Session {
 public:
  Session(Surroundings surroundings, std::string binary_folder)
      : surroundings_(std::move(surroundings)), binary_folder_(std::move(binary_folder)) {}

  // Adds --controller and --output to the program.
  void AddOptions(CLI::App& app);

  // Connects on first use. Exits the command through Fail when the address can't be told.
  absl::StatusOr<Client*> client();
  absl::StatusOr<ControllerAddress> address() const { return ResolveController(controller_flag_, surroundings_); }
  // Makes later calls of client() go to this address: the embedded controller.
  void UseController(const std::string& address) { controller_flag_ = address; }

  const Surroundings& surroundings() const { return surroundings_; }
  const std::string& binary_folder() const { return binary_folder_; }
  bool quiet() const { return output_ == "quiet"; }
  bool json() const { return output_ == "json"; }

  // Shows one result: a table for people, or `{"schema_version": 1, NOUN: value}`.
  void Show(const reports::Table& table, std::string_view noun, const nlohmann::json& value) const;
  // A line for people: nothing in JSON and quiet output.
  void Say(const std::string& line) const;

  // Prints one error line and sets the exit status that belongs to the error.
  void Fail(const absl::Status& status);
  void Fail(ExitCode code, const std::string& text);
  void Exit(ExitCode code) { status_ = code; }
  ExitCode status() const { return status_; }

 private:
  Surroundings surroundings_;
  std::string binary_folder_;
  std::string controller_flag_;
  std::string output_ = "table";
  std::unique_ptr<Client> client_;
  ExitCode status_ = kExitPass;
};

// Value of a result, or nullptr after Fail.
template <typename T>
const T* ValueOrFail(Session& session, const absl::StatusOr<T>& result) {
  if (result.ok()) return &*result;
  session.Fail(result.status());
  return nullptr;
}

// JSON of a message, or of each message of a list.
nlohmann::json Json(const google::protobuf::Message& message);
template <typename List>
nlohmann::json JsonList(const List& list) {
  nlohmann::json values = nlohmann::json::array();
  for (const auto& message : list) values.push_back(Json(message));
  return values;
}

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_COMMANDS_SESSION_H_
