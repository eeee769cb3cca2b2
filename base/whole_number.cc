#include "base/whole_number.h"

#include <charconv>

#include "absl/strings/str_cat.h"
#include "base/absl_view.h"

namespace pyptox {

std::string WholeNumberFault(std::string_view text, int64_t least, uint64_t most) {
  const std::string fault = absl::StrCat("'", AbslView(text), "' is not a whole number from ", least, " to ", most);
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return fault;
  if (digits.size() > 1 && digits.front() == '0') return fault;
  // -(least + 1) can be said for every least.
  const bool fits = negative ? least < 0 && value > 0 && value - 1 <= static_cast<uint64_t>(-(least + 1))
                             : value <= most && (least <= 0 || value >= static_cast<uint64_t>(least));
  return fits ? "" : fault;
}

}  // namespace pyptox
