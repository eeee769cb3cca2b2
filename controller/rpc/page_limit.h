// How many rows one call may ask for.
#ifndef PYPTOX_CONTROLLER_RPC_PAGE_LIMIT_H_
#define PYPTOX_CONTROLLER_RPC_PAGE_LIMIT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace pyptox::controller {

inline constexpr uint32_t kMaxPage = 1000;

inline absl::Status CheckLimit(uint32_t limit) {
  if (limit <= kMaxPage) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("limit: ", limit, "; at most ", kMaxPage, " is allowed"));
}

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_PAGE_LIMIT_H_
