// Locks as messages name them.
#ifndef PYPTOX_CONTROLLER_CORE_HELD_LOCKS_H_
#define PYPTOX_CONTROLLER_CORE_HELD_LOCKS_H_

#include <map>
#include <string>

#include "google/protobuf/repeated_field.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::controller {

using HeldLocks = google::protobuf::RepeatedPtrField<v1::HeldLock>;

// The same keys under the same tokens, in any order.
inline bool SameLocks(const HeldLocks& a, const HeldLocks& b) {
  const auto by_key = [](const HeldLocks& locks) {
    std::map<std::string, uint64_t> tokens;
    for (const v1::HeldLock& lock : locks) tokens[lock.key()] = lock.token();
    return tokens;
  };
  return a.size() == b.size() && by_key(a) == by_key(b);
}

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_HELD_LOCKS_H_
