// Caps the calls of one peer that stay open for long: links, watches, followed logs.
#ifndef PYPTOX_CONTROLLER_RPC_STREAM_SLOTS_H_
#define PYPTOX_CONTROLLER_RPC_STREAM_SLOTS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace pyptox::controller {

// Long calls at once of one identity (DESIGN section 10).
inline constexpr int kMaxStreamsPerIdentity = 64;

// Thread safe. Must outlive its slots.
class StreamSlots {
 public:
  // Frees its place when it goes.
  using Slot = std::shared_ptr<const void>;

  // `peer` is gRPC's name of the other end; its port does not count. Null when all slots are taken.
  Slot Take(const std::string& peer);

 private:
  std::mutex mutex_;
  std::map<std::string, int> taken_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_STREAM_SLOTS_H_
