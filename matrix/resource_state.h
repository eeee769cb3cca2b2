// What the states of a resource mean for orders and for jobs. Pure.
#ifndef PYPTOX_MATRIX_RESOURCE_STATE_H_
#define PYPTOX_MATRIX_RESOURCE_STATE_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "pyptox/v1/record.pb.h"
#include "pyptox/v1/resource.pb.h"

namespace pyptox::matrix {

// Longest name, reason, wake-up condition or person of an order, in bytes.
inline constexpr size_t kMaxOrderText = 1000;

// `AVAILABLE`, `PAUSED`, ... without the enum's prefix.
std::string ResourceStateWord(v1::ResourceState state);

// Can a person set this state? BUSY and OFFLINE are seen, not set.
bool IsOrderable(v1::ResourceState state);

// Can this state be ordered while a job holds the resource?
bool LetsHolderGoOn(v1::ResourceState state);

// The verdict of jobs for a resource under such an order; VERDICT_UNSPECIFIED when they wait.
v1::Verdict VerdictUnder(v1::ResourceState state);

// INVALID_ARGUMENT naming the field, its value and what is wrong with it.
absl::Status CheckOrder(const v1::OrderResourceRequest& request);

// `PAUSED by ann: the rent is over (until Monday 9:00)`.
std::string OrderText(const v1::ResourceOrder& order);

}  // namespace pyptox::matrix

#endif  // PYPTOX_MATRIX_RESOURCE_STATE_H_
