// pyptox-ctl matrix
#include <fmt/format.h>

#include "ctl/commands/commands.h"
#include "reports/tables.h"

namespace pyptox::ctl {

void AddMatrix(CLI::App& app, Session& session) {
  CLI::App* matrix = app.add_subcommand("matrix", "Suite x lane, derived from records")->require_subcommand(1);
  auto suite = std::make_shared<std::string>();
  const auto ask = [&session, suite]() -> absl::StatusOr<v1::ShowMatrixResponse> {
    absl::StatusOr<Client*> client = session.client();
    if (!client.ok()) return client.status();
    return (*client)->ShowMatrix(*suite);
  };
  CLI::App* show = matrix->add_subcommand("show", "The cells, by suite and lane");
  show->add_option("--suite", *suite, "Only this suite");
  show->callback([&session, ask] {
    absl::StatusOr<v1::ShowMatrixResponse> response = ask();
    if (ValueOrFail(session, response) == nullptr) return;
    session.Show({{"cells", reports::MatrixTable(*response), JsonList(response->cells())}});
  });
  CLI::App* summary = matrix->add_subcommand("summary", "One line: how many lanes and cases are bit-exact");
  summary->add_option("--suite", *suite, "Only this suite");
  summary->callback([&session, ask] {
    absl::StatusOr<v1::ShowMatrixResponse> response = ask();
    if (ValueOrFail(session, response) == nullptr) return;
    const std::string line = reports::MatrixSummary(*response);
    if (session.json()) return session.Show({{"summary", {}, line}});
    session.Say(line);
  });
}

}  // namespace pyptox::ctl
