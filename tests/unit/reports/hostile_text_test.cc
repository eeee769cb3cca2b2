// Whatever stands in a field of a message stays inert in every form of every table.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "gtest/gtest.h"
#include "reports/tables.h"
#include "reports/visible_text.h"
#include "tests/support/hostile_strings.h"

namespace pyptox::reports {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Puts `text` into every string and bytes field, below one entry of every list.
void Fill(Message* message, const std::string& text) {
  const auto* reflection = message->GetReflection();
  for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message->GetDescriptor()->field(i);
    const bool list = field->is_repeated();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Fill(list ? reflection->AddMessage(message, field) : reflection->MutableMessage(message, field), text);
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        list ? reflection->AddString(message, field, text) : reflection->SetString(message, field, text);
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        if (!list) reflection->SetEnumValue(message, field, 2);
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        if (!list) reflection->SetUInt64(message, field, 1);
        break;
      default:
        break;
    }
  }
}

template <typename M>
M Filled(const std::string& text) {
  M message;
  Fill(&message, text);
  return message;
}

std::vector<Table> AllTables(const std::string& text) {
  auto query = Filled<v1::QueryResponse>(text);
  query.mutable_rows(0)->mutable_values(0)->set_text(text);
  return {MatrixTable(Filled<v1::ShowMatrixResponse>(text)),
          JobsTable(Filled<v1::ListJobsResponse>(text)),
          AttemptsTable(Filled<v1::GetJobResponse>(text)),
          RecordsTable({Filled<v1::Record>(text)}),
          ResourcesTable(Filled<v1::ListResourcesResponse>(text)),
          FactsTable(Filled<v1::Resource>(text)),
          AgentsTable(Filled<v1::ListAgentsResponse>(text)),
          LocksTable(Filled<v1::ListLocksResponse>(text)),
          ArtifactsTable(Filled<v1::ListArtifactsResponse>(text)),
          TroubleTable({Filled<v1::Record>(text)}),
          QueryTable(query)};
}

// Nothing but printable text, and `kept`.
void ExpectPrintable(const std::string& rendered, const std::string& kept) {
  std::string rest = rendered;
  std::erase_if(rest, [&](char c) { return kept.find(c) != std::string::npos; });
  EXPECT_EQ(VisibleText(rest), rest);
  EXPECT_TRUE(IsValidUtf8(rest));
}

// Cells of one RFC 4180 line; fails on anything that is not quoted.
std::vector<std::string> CsvCells(const std::string& line) {
  std::vector<std::string> cells;
  size_t at = 0;
  while (at < line.size()) {
    EXPECT_EQ(line[at], '"') << line;
    std::string cell;
    for (++at; at < line.size(); ++at) {
      if (line[at] != '"') {
        cell += line[at];
      } else if (line.compare(at, 2, "\"\"") == 0) {
        cell += line[at++];
      } else {
        break;
      }
    }
    cells.push_back(cell);
    ++at;
    if (at < line.size()) {
      EXPECT_EQ(line[at], ',') << line;
    }
    ++at;
  }
  return cells;
}

std::vector<std::string> Split(const std::string& text, const std::string& end) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t next = text.find(end, at);
    EXPECT_NE(next, std::string::npos);
    if (next == std::string::npos) break;
    lines.push_back(text.substr(at, next - at));
    at = next + end.size();
  }
  return lines;
}

// `|` that no odd number of backslashes stands before.
size_t UnescapedBars(const std::string& line) {
  size_t bars = 0;
  size_t slashes = 0;
  for (const char c : line) {
    if (c == '|' && slashes % 2 == 0) ++bars;
    slashes = c == '\\' ? slashes + 1 : 0;
  }
  return bars;
}

void CheckTable(const Table& table) {
  const std::string text = RenderText(table);
  ExpectPrintable(text, "\n");
  EXPECT_EQ(Split(text, "\n").size(), table.rows.size() + 1);

  const std::string markdown = RenderMarkdown(table);
  ExpectPrintable(markdown, "\n");
  const std::vector<std::string> lines = Split(markdown, "\n");
  ASSERT_EQ(lines.size(), table.rows.size() + 2);
  for (const std::string& line : lines) EXPECT_EQ(UnescapedBars(line), table.columns.size() + 1) << line;
  EXPECT_EQ(markdown.find('<'), std::string::npos) << markdown;

  const std::string csv = RenderCsv(table);
  ExpectPrintable(csv, "\r\n");
  const std::vector<std::string> rows = Split(csv, "\r\n");
  ASSERT_EQ(rows.size(), table.rows.size() + 1);
  for (const std::string& row : rows) {
    const std::vector<std::string> cells = CsvCells(row);
    EXPECT_EQ(cells.size(), table.columns.size()) << row;
    for (const std::string& cell : cells) {
      for (const std::string formula : {"=", "+", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"}) {
        EXPECT_FALSE(cell.starts_with(formula)) << cell;
      }
      const bool number = cell.find_first_not_of("0123456789.", 1) == std::string::npos && cell.size() > 1;
      EXPECT_TRUE(!cell.starts_with("-") || number) << cell;
    }
  }
}

TEST(HostileTextTest, EveryFieldOfEveryTable) {
  for (const std::string& text : HostileStrings()) {
    SCOPED_TRACE(VisibleText(text));
    for (const Table& table : AllTables(text)) {
      ASSERT_EQ(table.rows.size(), 1u);
      CheckTable(table);
    }
  }
}

}  // namespace
}  // namespace pyptox::reports
