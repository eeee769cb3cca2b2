// Whole numbers as people type them.
#ifndef PYPTOX_BASE_WHOLE_NUMBER_H_
#define PYPTOX_BASE_WHOLE_NUMBER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace pyptox {

// What is wrong with `text` as a decimal number from `least` to `most`; empty when nothing is. Decimal digits only,
// without a leading zero, which others read as octal; a minus sign where `least` is negative.
std::string WholeNumberFault(std::string_view text, int64_t least, uint64_t most);

}  // namespace pyptox

#endif  // PYPTOX_BASE_WHOLE_NUMBER_H_
