#include "base/controller_address.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/absl_view.h"
#include "base/whole_number.h"

namespace pyptox {
namespace {

bool IsHost(std::string_view host) {
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string_view name = bracketed ? host.substr(1, host.size() - 2) : host;
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return word || c == '.' || c == '-' || c == '_' || (bracketed && (c == ':' || c == '%'));
  });
}

}  // namespace

absl::Status CheckControllerAddress(std::string_view address) {
  constexpr std::string_view kUnix = "unix:";
  if (address.starts_with(kUnix)) {
    // gRPC reads the address as a URI, where these characters mean something else.
    const std::string_view path = address.substr(kUnix.size());
    if (!path.empty() && path.find_first_of(std::string_view("%?#\0", 4)) == path.npos) return absl::OkStatus();
  } else if (const size_t colon = address.rfind(':'); colon != address.npos) {
    const bool port = WholeNumberFault(address.substr(colon + 1), 1, 65535).empty();
    if (port && IsHost(address.substr(0, colon))) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("controller's address '", AbslView(address),
                                                 "': neither unix:PATH nor HOST:PORT with a port of 1 to 65535"));
}

}  // namespace pyptox
