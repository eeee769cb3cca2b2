// What every command shares: the flags before the verb, the connection, and how results are shown.
#ifndef PYPTOX_CTL_COMMANDS_SESSION_H_
#define PYPTOX_CTL_COMMANDS_SESSION_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// One part of a result: a table for people, a member of the document for programs.
struct Section {
  std::string noun;
  reports::Table table;
  nlohmann::json value;
};

// Not thread safe.
class Session {
 public:
  Session(Surroundings surroundings, std::string binary_folder)
      : surroundings_(std::move(surroundings)), binary_folder_(std::move(binary_folder)) {}

  // Adds --controller and --output to the program.
  void AddOptions(CLI::App& app);

  // Connects on first use.
  absl::StatusOr<Client*> client();
  absl::StatusOr<ControllerAddress> address() const { return ResolveController(controller_flag_, surroundings_); }
  // Makes later calls of client() go to this address: the embedded controller.
  void UseController(const std::string& address) { controller_flag_ = address; }
  bool has_controller_flag() const { return !controller_flag_.empty(); }

  const Surroundings& surroundings() const { return surroundings_; }
  const std::string& binary_folder() const { return binary_folder_; }
  bool quiet() const { return output_ == "quiet"; }
  bool json() const { return output_ == "json"; }

  // Shows one result: tables one below the other, or one document `{"schema_version": 1, NOUN: VALUE, ...}`.
  void Show(const std::vector<Section>& sections);
  // A line for people: nothing but in table output.
  void Say(const std::string& line);
  // A line for people on stderr, in every output but quiet.
  void Note(const std::string& line) const;

  // Prints one line for each line of the error and sets the exit status: of what the controller said ...
  void Fail(const absl::Status& status);
  // ... of a file here ...
  void FailLocal(const absl::Status& status);
  // ... or as given.
  void Fail(ExitCode code, const std::string& text);
  void Exit(int code) { status_ = code; }
  // The exit status: 74 when a result could not be written, whatever else it would be.
  int status() const { return status_; }

 private:
  void Write(const std::string& text);

  const Surroundings surroundings_;
  const std::string binary_folder_;
  std::string controller_flag_;
  std::string output_ = "table";
  std::unique_ptr<Client> client_;
  int status_ = kExitPass;
};

// Value of a result, or nullptr after Fail.
template <typename T>
const T* ValueOrFail(Session& session, const absl::StatusOr<T>& result) {
  if (result.ok()) return &*result;
  session.Fail(result.status());
  return nullptr;
}

// Whoever runs this program, for the books.
std::string UserName();

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
