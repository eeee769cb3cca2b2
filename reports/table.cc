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

// An optional minus, digits, a point: what a spreadsheet takes for a number and nothing else.
bool IsNumber(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

// Always quoted, so that a reader with another separator does not split it. The wide forms of = + - @ are formulas to
// some spreadsheets too.
std::string CsvCell(std::string_view text) {
  const std::string cell = VisibleText(text);
  std::string quoted = "\"";
  for (const std::string_view start : {"=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"}) {
    if (cell.starts_with(start) && !IsNumber(cell)) quoted.push_back('\'');
  }
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
  std::vector<std::vector<std::string>> lines;
  std::vector<size_t> widths;
  const auto add = [&](const std::vector<std::string>& row) {
    lines.emplace_back();
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      lines.back().push_back(VisibleText(row[i]));
      widths[i] = std::max(widths[i], DisplayWidth(lines.back().back()));
    }
  };
  add(table.columns);
  for (const auto& row : table.rows) add(row);
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
