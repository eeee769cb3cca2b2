#include "matrix/resource_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace pyptox::matrix {
namespace {

absl::Status CheckLine(std::string_view field, std::string_view text, bool may_be_empty) {
  if (text.empty() && !may_be_empty) return absl::InvalidArgumentError(fmt::format("{}: empty", field));
  if (text.size() > kMaxOrderText) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {} bytes; at most {} are allowed", field, text.size(), kMaxOrderText));
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    return absl::InvalidArgumentError(fmt::format("{}: has a control character; one line of text is wanted", field));
  }
  return absl::OkStatus();
}

}  // namespace

std::string ResourceStateWord(v1::ResourceState state) {
  if (!v1::ResourceState_IsValid(state)) return fmt::format("{}", static_cast<int>(state));
  return v1::ResourceState_Name(state).substr(std::string_view("RESOURCE_STATE_").size());
}

bool IsOrderable(v1::ResourceState state) {
  return v1::ResourceState_IsValid(state) && state != v1::RESOURCE_STATE_UNSPECIFIED &&
         state != v1::RESOURCE_STATE_BUSY && state != v1::RESOURCE_STATE_OFFLINE;
}

bool LetsHolderGoOn(v1::ResourceState state) {
  return state == v1::RESOURCE_STATE_AVAILABLE || state == v1::RESOURCE_STATE_DRAINING ||
         state == v1::RESOURCE_STATE_QUARANTINED;
}

v1::Verdict VerdictUnder(v1::ResourceState state) {
  switch (state) {
    case v1::RESOURCE_STATE_BLOCKED_DEVICE:
      return v1::VERDICT_BLOCKED_DEVICE;
    case v1::RESOURCE_STATE_BLOCKED_TOOLCHAIN:
      return v1::VERDICT_BLOCKED_TOOLCHAIN;
    default:
      return v1::VERDICT_UNSPECIFIED;
  }
}

absl::Status CheckOrder(const v1::OrderResourceRequest& request) {
  if (!IsOrderable(request.state())) {
    return absl::InvalidArgumentError(
        fmt::format("state: {} is not one that a person can set", ResourceStateWord(request.state())));
  }
  const bool ends = request.state() == v1::RESOURCE_STATE_AVAILABLE;
  if (ends && !request.until().empty())
    return absl::InvalidArgumentError("until: an AVAILABLE resource waits for nothing");
  const absl::Status all[] = {CheckLine("name", request.name(), false), CheckLine("reason", request.reason(), ends),
                              CheckLine("until", request.until(), true), CheckLine("person", request.person(), false)};
  for (const absl::Status& status : all) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::string OrderText(const v1::ResourceOrder& order) {
  return fmt::format("{} by {}: {}{}", ResourceStateWord(order.state()), order.person(), order.reason(),
                     order.until().empty() ? "" : fmt::format(" (until {})", order.until()));
}

}  // namespace pyptox::matrix
