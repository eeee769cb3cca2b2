// What an ELF file's header says. Pure: bytes in, values out; a cut or foreign file is an error.
#ifndef PYPTOX_BACKENDS_INSPECT_ELF_HEADER_H_
#define PYPTOX_BACKENDS_INSPECT_ELF_HEADER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace pyptox::backends {

struct ElfHeader {
  // 32 or 64.
  uint32_t bits = 0;
  uint16_t machine = 0;
  uint8_t os_abi = 0;
  uint32_t flags = 0;
};

// Bytes that ReadElfHeader needs at most.
inline constexpr size_t kElfHeaderBytes = 64;

// INVALID_ARGUMENT with `name` for anything but a little- or big-endian ELF file whose header is whole.
absl::StatusOr<ElfHeader> ReadElfHeader(std::string_view bytes, std::string_view name);

// Usual name of an e_machine: x86-64, aarch64, amdgpu, cuda, ...; `machine 0x..` for one without a name here.
std::string MachineName(uint16_t machine);

}  // namespace pyptox::backends

#endif  // PYPTOX_BACKENDS_INSPECT_ELF_HEADER_H_
