#include "controller/rpc/stream_slots.h"

namespace pyptox::controller {
namespace {

// `ipv4:127.0.0.1:4242` without the port; `unix:` as it is.
std::string IdentityOf(const std::string& peer) {
  return peer.rfind("unix", 0) == 0 ? "unix" : peer.substr(0, peer.rfind(':'));
}

}  // namespace

StreamSlots::Slot StreamSlots::Take(const std::string& peer) {
  const std::string identity = IdentityOf(peer);
  std::lock_guard lock(mutex_);
  int& taken = taken_[identity];
  if (taken >= kMaxStreamsPerIdentity) return nullptr;
  ++taken;
  return Slot(this, [this, identity](const void*) {
    std::lock_guard lock(mutex_);
    if (--taken_[identity] == 0) taken_.erase(identity);
  });
}

}  // namespace pyptox::controller
