// Text from elsewhere made harmless for a place where it is shown. Pure.
#ifndef PYPTOX_REPORTS_VISIBLE_TEXT_H_
#define PYPTOX_REPORTS_VISIBLE_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace pyptox::reports {

// Control characters (C0, DEL, C1), line and paragraph separators, direction overrides and invalid UTF-8 become \xNN or
// \u{NNNN}: nothing can move a terminal's cursor, hide text or break a line.
std::string VisibleText(std::string_view text);

// Columns on a terminal of text that VisibleText made: wide characters of East Asian scripts count two, combining marks
// none.
size_t DisplayWidth(std::string_view text);

}  // namespace pyptox::reports

#endif  // PYPTOX_REPORTS_VISIBLE_TEXT_H_
