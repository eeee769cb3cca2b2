// The numbers that both ends of every gRPC connection must agree on, in one place (DESIGN section 10; gRPC answers
// pings it did not agree to with GOAWAY `too_many_pings`).
#ifndef PYPTOX_BASE_LINK_SETTINGS_H_
#define PYPTOX_BASE_LINK_SETTINGS_H_

#include "base/time_types.h"

namespace pyptox {

// Largest message either way, bytes.
inline constexpr int kMaxMessageBytes = 4 << 20;
// Largest piece of an artifact or a log in one message, bytes.
inline constexpr int kMaxChunkBytes = 1 << 20;
// An agent sends a heartbeat this often ...
inline constexpr Duration kHeartbeatInterval = Seconds(2);
// ... and is lost after this long without any message.
inline constexpr Duration kLostAfter = Seconds(30);
// HTTP/2 keepalive: the client pings an idle connection this often; the server allows pings half as far apart.
inline constexpr int kKeepaliveTimeMs = 20'000;
inline constexpr int kKeepaliveTimeoutMs = 10'000;
inline constexpr int kServerMinPingIntervalMs = 10'000;
// Reconnect back-off, milliseconds.
inline constexpr int kReconnectMinMs = 500;
inline constexpr int kReconnectMaxMs = 5'000;

}  // namespace pyptox

#endif  // PYPTOX_BASE_LINK_SETTINGS_H_
