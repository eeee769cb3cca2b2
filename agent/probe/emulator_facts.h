// What the QEMU backend rests on: which emulator is there, and which AArch64 C library.
#ifndef PYPTOX_AGENT_PROBE_EMULATOR_FACTS_H_
#define PYPTOX_AGENT_PROBE_EMULATOR_FACTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "agent/probe/toolchain.h"
#include "base/time_types.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

// Keys: qemu_aarch64 (first line of --version), qemu_aarch64_sha256, aarch64_loader (path of ld-linux-aarch64.so.1).
// `absent` for what is not there, `unknown` for what does not answer. `root` is a prefix of the loader's places, empty
// but in tests.
std::vector<v1::Fact> ProbeEmulator(std::string_view path, const std::string& root, std::string_view agent,
                                    WallTime now, const RunTool& run);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_PROBE_EMULATOR_FACTS_H_
