// Strings that have broken terminals, tables, web pages and spreadsheets (faults.md: CVE-2024-52005, CVE-2023-25761,
// CVE-2021-41270 and their kind).
#ifndef PYPTOX_TESTS_SUPPORT_HOSTILE_STRINGS_H_
#define PYPTOX_TESTS_SUPPORT_HOSTILE_STRINGS_H_

#include <string>
#include <vector>

namespace pyptox {

inline std::vector<std::string> HostileStrings() {
  using namespace std::string_literals;  // NOLINT: embedded NULs need it.
  std::vector<std::string> strings = {
      // Terminal escapes: colours, cursor, clear, title, clipboard, device queries, links, sixel, bells.
      "\x1b[31mred", "\x1b[2J\x1b[H", "\x1b[1A\x1b[2K", "\x1b]0;title\x07", "\x1b]52;c;ZXZpbA==\x07", "\x1b[6n",
      "\x1b[c", "\x1b]8;;http://example.org\x1b\\text", "\x1bPq#0;2;0;0;0\x1b\\", "\x07\x07", "\x1b[?1049h", "\x1b#8",
      "\x9b"
      "31m",
      "\xc2\x9b"
      "31m",
      "\x1b[8mhidden", "a\rb", "a\r\nb", "a\nb", "a\n\nb", "\n", "a\tb", "\ttab", "a\vb", "a\fb", "a\bb", "a\0b"s,
      "\0"s, "\x7f", "PASS\x1b[1A\rFAIL",
      // Direction, invisible and separating characters.
      "a\u202eb", "a\u2066b\u2069", "a\u200bb", "a\u200fb", "a\u061cb", "a\u00adb", "a\u2028b", "a\u2029b", "\ufeffa",
      "a\u180eb", "a\ufff9b", "a\U000e0041b", "a\u115fb", "a\u3164b",
      // Invalid UTF-8: lone bytes, cut, overlong, surrogates, too large.
      "\x80", "a\xff", "\xc3", "\xe4\xb8", "\xf0\x9f\x98", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
      "\xf4\x90\x80\x80", "\xfe\xfe\xff\xff",
      // Markdown and HTML.
      "a|b", "|", "||", "a\\|b", "\\", "a\\", "`code`", "``", "*bold*", "__b__", "~~s~~", "[x](javascript:alert(1))",
      "![x](http://example.org/x.png)", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</td></tr>",
      "&lt;b&gt;", "&#x3c;", "<!-- x -->", "--- | ---", "# head", "> quote", "- item", "1. item",
      "<http://example.org>", "$$x$$", "\\`",
      // Spreadsheet formulas.
      "=1+1", "=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "=HYPERLINK(\"http://example.org\")", "\t=1+1",
      "\r=1+1", "\n=1+1", "\uff1d1+1", "\uff0b1", "\uff0d1+1", "\uff20SUM(1)", "\"=1+1\"", "a,=1+1", "a;=1+1", "a\"b",
      "\"", "\"\"", "\",=1+1,\"", "--1", "-", "=", "+", "@",
      // Plain, but wide or empty.
      "", " ", "  leading", "trailing  ", "\u4e2d\u6587\u77e9\u9635", "\u65e5\u672c\u8a9e | \u8868", "e\u0301",
      "\U0001f600", "\uff21\uff22", std::string(300, 'x'), "%s%n%d", "{}", "{0}", "$(id)", "`id`", "; rm -rf x",
      "../../x",
      // C1 controls of escape sequences, and what spreadsheets, tables and shells also take for their own.
      "\xc2\x9d"
      "0;title\xc2\x9c",
      "\xc2\x90q\xc2\x9c", "\x1b_apc\x1b\\", "\x1b^pm\x1b\\",
      "\x1b"
      "c",
      "\x1b(0lqk", "\x0e\x0f", "\x1b[3J", "\x1b]1337;File=:AA==\x07", "\u202aa\u202c", "a\u2067b", "\u206aa",
      "\ufff9a\ufffab\ufffb", "a\u2064b", "\u00a0", "a\u0085b"};
  // Every control character in the middle of a word.
  for (int byte = 0; byte < 0x20; ++byte) strings.push_back("a" + std::string(1, static_cast<char>(byte)) + "b");
  for (int byte = 0x80; byte < 0xa0; ++byte) {
    strings.push_back("a\xc2" + std::string(1, static_cast<char>(byte)) + "b");
  }
  return strings;
}

}  // namespace pyptox

#endif  // PYPTOX_TESTS_SUPPORT_HOSTILE_STRINGS_H_
