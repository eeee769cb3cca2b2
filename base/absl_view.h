// Debian builds Abseil for C++14, where absl::string_view is a type of its own. These carry views across without a
// copy.
#ifndef PYPTOX_BASE_ABSL_VIEW_H_
#define PYPTOX_BASE_ABSL_VIEW_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace pyptox {

inline absl::string_view AbslView(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view StdView(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace pyptox

#endif  // PYPTOX_BASE_ABSL_VIEW_H_
