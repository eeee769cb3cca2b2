#include "controller/rpc/listen_address.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/absl_view.h"

namespace pyptox::controller {
namespace {

bool IsLoopback(std::string_view host) {
  if (host == "localhost" || host == "[::1]") return true;
  in_addr address;
  return inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

}  // namespace

std::string ListenAddress::ToString() const {
  return unix_path.empty() ? absl::StrCat(host, ":", port) : absl::StrCat("unix:", unix_path);
}

absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text) {
  ListenAddress address;
  constexpr std::string_view kUnix = "unix:";
  if (text.starts_with(kUnix)) {
    const std::string_view rest = text.substr(kUnix.size());
    constexpr size_t kMaxPath = sizeof(sockaddr_un{}.sun_path) - 1;
    // gRPC reads the address as a URI, where these characters mean something else.
    if (rest.empty() || rest.size() > kMaxPath || rest.find_first_of(std::string_view("%?#\0", 4)) != rest.npos) {
      return absl::InvalidArgumentError(absl::StrCat("listen address `", AbslView(text),
                                                     "`: the socket's path must have 1 to ", kMaxPath,
                                                     " bytes and none of % ? #"));
    }
    address.unix_path = std::string(rest);
    return address;
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || !absl::SimpleAtoi(AbslView(text.substr(colon + 1)), &address.port) ||
      address.port < 0 || address.port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("listen address `", AbslView(text),
                                                   "`: neither `unix:PATH` nor `HOST:PORT` with a port of 0 to 65535"));
  }
  address.host = std::string(text.substr(0, colon));
  if (!IsLoopback(address.host)) {
    return absl::InvalidArgumentError(
        absl::StrCat("listen address `", AbslView(text),
                     "`: only the loopback interface (127.0.0.1, [::1], localhost) or a unix socket is ",
                     "allowed, because connections are not authenticated"));
  }
  return address;
}

}  // namespace pyptox::controller
