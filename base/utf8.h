// Says where a text stops being UTF-8.
#ifndef PYPTOX_BASE_UTF8_H_
#define PYPTOX_BASE_UTF8_H_

#include <cstddef>
#include <string_view>

namespace pyptox {

// Length of the longest prefix that is well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms, at most
// U+10FFFF).
size_t ValidUtf8Prefix(std::string_view text);

inline bool IsValidUtf8(std::string_view text) { return ValidUtf8Prefix(text) == text.size(); }

}  // namespace pyptox

#endif  // PYPTOX_BASE_UTF8_H_
