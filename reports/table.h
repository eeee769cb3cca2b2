// Rows and columns, and the forms they are shown in. Pure: values in, text out; whatever a cell holds stays inert.
#ifndef PYPTOX_REPORTS_TABLE_H_
#define PYPTOX_REPORTS_TABLE_H_

#include <string>
#include <vector>

namespace pyptox::reports {

struct Table {
  std::vector<std::string> columns;
  // Each as long as `columns`.
  std::vector<std::vector<std::string>> rows;
};

// Columns padded to their widest cell, for a terminal. Ends in a newline.
std::string RenderText(const Table& table);
// A GitHub-flavoured table; `|`, `<`, `` ` `` and the like are escaped.
std::string RenderMarkdown(const Table& table);
// RFC 4180 with every cell quoted; one that a spreadsheet would take for a formula gets a leading apostrophe.
std::string RenderCsv(const Table& table);

}  // namespace pyptox::reports

#endif  // PYPTOX_REPORTS_TABLE_H_
