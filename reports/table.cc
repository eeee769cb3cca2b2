#include "reports/table.h"

#include <algorithm>
#include <string_view>

#include "reports/visible_text.h"

namespace pyptox::reports {
namespace {

std::string MarkdownCell(std::string_view text) {
  std::string escaped;
  for (const char c : VisibleText(text)) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      if (std::string_view("\\`*_{}[]#|>!~").find(c) != std::string_view::npos) escaped.push_back('\\');
      escaped.push_back(c);
    }
  }
  return escaped;
}

std::string CsvCell(std::string_view text) {
  std::string cell = VisibleText(text);
  if (!cell.empty() && std::string_view("=+-@").find(cell.front()) != std::string_view::npos) cell.insert(0, "'");
  if (cell.find_first_of("\",") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) {
    if (c == '"') quoted.push_back('"');
    quoted.push_back(c);
  }
  return quoted + "\"";
}

template <typename Cell>
std::string Joined(const std::vector<std::string>& row, std::string_view separator, Cell cell) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    if (i != 0) line += separator;
    line += cell(row[i]);
  }
  return line;
}

}  // namespace

std::string RenderText(const Table& table) {
  std::vector<std::vector<std::string>> lines = {table.columns};
  for (const auto& row : table.rows) {
    lines.emplace_back();
    for (const std::string& cell : row) lines.back().push_back(VisibleText(cell));
  }
  std::vector<size_t> widths(table.columns.size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(line[i]));
  }
  std::string text;
  for (const auto& line : lines) {
    std::string padded;
    for (size_t i = 0; i < line.size(); ++i) {
      padded += line[i];
      padded.append(widths[i] - DisplayWidth(line[i]) + 2, ' ');
    }
    padded.erase(padded.find_last_not_of(' ') + 1);
    text += padded + "\n";
  }
  return text;
}

std::string RenderMarkdown(const Table& table) {
  std::string text = "| " + Joined(table.columns, " | ", MarkdownCell) + " |\n|";
  for (size_t i = 0; i < table.columns.size(); ++i) text += " --- |";
  text += "\n";
  for (const auto& row : table.rows) text += "| " + Joined(row, " | ", MarkdownCell) + " |\n";
  return text;
}

std::string RenderCsv(const Table& table) {
  std::string text = Joined(table.columns, ",", CsvCell) + "\r\n";
  for (const auto& row : table.rows) text += Joined(row, ",", CsvCell) + "\r\n";
  return text;
}

}  // namespace pyptox::reports
