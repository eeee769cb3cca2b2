// The address of a controller, as clients and agents are told it.
#ifndef PYPTOX_BASE_CONTROLLER_ADDRESS_H_
#define PYPTOX_BASE_CONTROLLER_ADDRESS_H_

#include <string_view>

#include "absl/status/status.h"

namespace pyptox {

// INVALID_ARGUMENT unless it is `unix:PATH` or `HOST:PORT`, an IPv6 host in brackets. gRPC takes what is not for a name
// or another scheme, and a port above 65535 for one of its lower bits.
absl::Status CheckControllerAddress(std::string_view address);

}  // namespace pyptox

#endif  // PYPTOX_BASE_CONTROLLER_ADDRESS_H_
