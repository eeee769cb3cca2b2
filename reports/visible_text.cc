#include "reports/visible_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace pyptox::reports {
namespace {

constexpr uint32_t kInvalid = 0xffffffff;

// Takes one code point off the front; kInvalid takes one byte.
uint32_t TakeCodePoint(std::string_view* text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>((*text)[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xf0 && first < 0xf5 ? 4
                        : first >= 0xe0                 ? 3
                        : first >= 0xc2                 ? 2
                                                        : 0;
  uint32_t point = length == 1 ? first : length == 2 ? first & 0x1f : length == 3 ? first & 0x0f : first & 0x07;
  bool valid = length != 0 && first < 0xf5 && text->size() >= length;
  for (size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xc0) == 0x80;
    point = point << 6 | (byte(i) & 0x3f);
  }
  static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  valid = valid && point >= kSmallest[length] && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
  text->remove_prefix(valid ? length : 1);
  return valid ? point : kInvalid;
}

struct Range {
  uint32_t first;
  uint32_t last;
};

template <size_t N>
bool Within(const Range (&ranges)[N], uint32_t point) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](const Range& range) { return point >= range.first && point <= range.last; });
}

// What can move a cursor, break a line, reorder or hide text: controls, line and paragraph separators, direction
// overrides (UAX 9), invisible fillers, interlinear marks, tags.
constexpr Range kHarmful[] = {{0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad}, {0x061c, 0x061c},  {0x115f, 0x1160},
                              {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},  {0x3164, 0x3164},
                              {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};

// Blocks of Unicode's East Asian Width W and F (UAX 11), and of combining marks, as coarse as a table needs them.
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xac00, 0xd7a3},
                           {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6},
                           {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr Range kCombining[] = {
    {0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};

size_t WidthOf(uint32_t point) {
  if (point == kInvalid) return 1;
  return Within(kCombining, point) ? 0 : Within(kWide, point) ? 2 : 1;
}

// Length of the sequence at the end of `text` that more bytes could make a character, 0 for none.
size_t OpenSequence(std::string_view text) {
  for (size_t length = 1; length <= std::min<size_t>(3, text.size()); ++length) {
    const unsigned char byte = static_cast<unsigned char>(text[text.size() - length]);
    if ((byte & 0xc0) == 0x80) continue;
    const size_t whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return length < whole ? length : 0;
  }
  return 0;
}

std::string Visible(std::string_view text, std::string_view kept) {
  std::string visible;
  while (!text.empty()) {
    const std::string_view before = text;
    const uint32_t point = TakeCodePoint(&text);
    const std::string_view taken = before.substr(0, before.size() - text.size());
    const bool harmful = point == kInvalid || Within(kHarmful, point);
    if (!harmful || (taken.size() == 1 && kept.find(taken[0]) != std::string_view::npos)) {
      visible += taken;
    } else if (point == kInvalid || point < 0x100) {
      for (const char c : taken) visible += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      visible += fmt::format("\\u{{{:04x}}}", point);
    }
  }
  return visible;
}

}  // namespace

std::string VisibleText(std::string_view text) { return Visible(text, ""); }

std::string VisibleLog::Add(std::string_view chunk) {
  held_ += chunk;
  const size_t open = OpenSequence(held_);
  std::string visible = Visible(std::string_view(held_).substr(0, held_.size() - open), "\n\t");
  held_.erase(0, held_.size() - open);
  return visible;
}

std::string VisibleLog::Finish() {
  std::string visible = Visible(held_, "\n\t");
  held_.clear();
  return visible;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) width += WidthOf(TakeCodePoint(&text));
  return width;
}

std::string ClipToWidth(std::string_view text, size_t columns) {
  if (DisplayWidth(text) <= columns || columns == 0) return std::string(text.substr(0, columns == 0 ? 0 : text.npos));
  std::string_view rest = text;
  size_t width = 0;
  size_t kept = 0;
  while (true) {
    width += WidthOf(TakeCodePoint(&rest));
    if (width > columns - 1) return std::string(text.substr(0, kept)) + "\u2026";
    kept = text.size() - rest.size();
  }
}

}  // namespace pyptox::reports
