// Words and numbers out of tools' text. What is not exactly a number is no number: unknown is never 0.
#ifndef PYPTOX_AGENT_WATCH_PARSE_TOOL_TEXT_H_
#define PYPTOX_AGENT_WATCH_PARSE_TOOL_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace pyptox::agent {

// Without blanks, tabs and carriage returns at both ends. Always a view into `text`, also when nothing is left.
std::string_view TrimBlanks(std::string_view text);

// The lines of `text`, which view into it. INVALID_ARGUMENT with `name` when the last one has no newline: then it is
// cut, and `41` may have been `41002`. An empty text has no lines.
absl::StatusOr<std::vector<std::string_view>> WholeLines(std::string_view text, std::string_view name);

// Pieces between `separator`s, trimmed; one piece for a text without any.
std::vector<std::string_view> SplitCells(std::string_view text, char separator);

// Words between runs of blanks and tabs.
std::vector<std::string_view> SplitWords(std::string_view text);

// Decimal digits and nothing else, below 2^64.
std::optional<uint64_t> ReadWhole(std::string_view text);

// The same, up to 2^40, which no device's memory in MiB reaches: sums of some of them do not overflow.
std::optional<uint64_t> ReadMebibytes(std::string_view text);

// The same, below 2^32.
std::optional<uint32_t> ReadWhole32(std::string_view text);

// Decimal digits with at most one point between them, at most 18 bytes: no sign, exponent, nan or inf.
std::optional<double> ReadDecimal(std::string_view text);

// Fit for records and terminals: control characters and what is not UTF-8 dropped, at most 255 bytes (DESIGN section
// 10).
std::string PrintableName(std::string_view text);

// PrintableName of the first line that is not blank; empty when there is none.
std::string FirstLineOf(std::string_view text);

// INVALID_ARGUMENT that quotes the line: it is neither what is known of this tool nor to be passed over.
absl::Status ToolLineFault(std::string_view tool, std::string_view line);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_PARSE_TOOL_TEXT_H_
