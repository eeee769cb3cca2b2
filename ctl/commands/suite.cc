// pyptox-ctl suite
#include <fmt/format.h>

#include "ctl/commands/commands.h"
#include "ctl/suite/suite_file.h"

namespace pyptox::ctl {
namespace {

void Check(Session& session, const std::string& path) {
  const SuiteFile loaded = LoadSuite(path);
  std::vector<TextFault> faults = loaded.faults;
  faults.insert(faults.end(), loaded.pin_faults.begin(), loaded.pin_faults.end());
  if (!faults.empty()) return session.Fail(kExitData, Lines(faults));
  const reports::Table table{
      {"SUITE", "CONTRACT", "LANES", "CASES", "SOURCES"},
      {{loaded.suite.name(), fmt::format("{} {}", loaded.suite.contract().name(), loaded.suite.contract().version()),
        fmt::format("{}", loaded.suite.lanes_size()), fmt::format("{}", loaded.suite.cases_size()),
        fmt::format("{} files", loaded.tree.files_size())}}};
  session.Show({{"suite",
                 table,
                 {{"name", loaded.suite.name()},
                  {"lanes", loaded.suite.lanes_size()},
                  {"cases", loaded.suite.cases_size()},
                  {"sources", loaded.tree.files_size()}}}});
}

void Pin(Session& session, const std::string& path) {
  const SuiteFile loaded = LoadSuite(path);
  if (!loaded.faults.empty()) return session.Fail(kExitData, Lines(loaded.faults));
  if (absl::Status status = PinGoldens(loaded); !status.ok()) return session.FailLocal(status);
  session.Say(fmt::format("{}: {} golden files pinned", loaded.suite.golden_lock(), GoldenFiles(loaded.suite).size()));
}

}  // namespace

void AddSuite(CLI::App& app, Session& session) {
  CLI::App* suite = app.add_subcommand("suite", "Suite files")->require_subcommand(1);
  auto path = std::make_shared<std::string>();
  CLI::App* check = suite->add_subcommand("check", "Say everything that is wrong with a suite file");
  check->add_option("SUITE", *path, "Suite file (YAML or JSON)")->required();
  check->callback([&session, path] { Check(session, *path); });
  CLI::App* pin =
      suite->add_subcommand("pin", "Pin the golden files as they are now: rewrites the suite's golden_lock");
  pin->add_option("SUITE", *path, "Suite file (YAML or JSON)")->required();
  pin->callback([&session, path] { Pin(session, *path); });
}

}  // namespace pyptox::ctl
