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

bool IsHarmful(uint32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0x200b && point <= 0x200f) ||
         (point >= 0x2028 && point <= 0x202e) || (point >= 0x2060 && point <= 0x206f) || point == 0xfeff;
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

// Blocks of Unicode's East Asian Width W and F (UAX 11), and of combining marks, as coarse as a table needs them.
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xac00, 0xd7a3},
                           {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6},
                           {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr Range kCombining[] = {
    {0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};

}  // namespace

std::string VisibleText(std::string_view text) {
  std::string visible;
  while (!text.empty()) {
    const std::string_view before = text;
    const uint32_t point = TakeCodePoint(&text);
    const std::string_view taken = before.substr(0, before.size() - text.size());
    if (point == kInvalid || (IsHarmful(point) && point < 0x100)) {
      for (const char c : taken) visible += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else if (IsHarmful(point)) {
      visible += fmt::format("\\u{{{:04x}}}", point);
    } else {
      visible += taken;
    }
  }
  return visible;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const uint32_t point = TakeCodePoint(&text);
    if (point != kInvalid && Within(kCombining, point)) continue;
    width += point != kInvalid && Within(kWide, point) ? 2 : 1;
  }
  return width;
}

}  // namespace pyptox::reports
