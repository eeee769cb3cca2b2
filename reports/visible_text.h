// Text from elsewhere made harmless for a place where it is shown. Pure.
#ifndef PYPTOX_REPORTS_VISIBLE_TEXT_H_
#define PYPTOX_REPORTS_VISIBLE_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace pyptox::reports {

// Control characters (C0, DEL, C1), line and paragraph separators, direction overrides, invisible fillers and invalid
// UTF-8 become \xNN or \u{NNNN}: nothing can move a terminal's cursor, hide or reorder text, or break a line.
std::string VisibleText(std::string_view text);

// The same for a log that arrives in chunks, on its way to a terminal: newlines and tabs stay, and a character that a
// chunk's end cuts in two is kept until its rest comes.
class VisibleLog {
 public:
  std::string Add(std::string_view chunk);
  std::string Finish();

 private:
  std::string held_;  // at most 3 bytes
};

// Columns on a terminal of text that VisibleText made: wide characters of East Asian scripts count two, combining marks
// none.
size_t DisplayWidth(std::string_view text);

// The front of such a text, as much as `columns` hold; a cut one ends in an ellipsis.
std::string ClipToWidth(std::string_view text, size_t columns);

}  // namespace pyptox::reports

#endif  // PYPTOX_REPORTS_VISIBLE_TEXT_H_
