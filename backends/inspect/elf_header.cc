#include "backends/inspect/elf_header.h"

#include <elf.h>
#include <fmt/format.h>

namespace pyptox::backends {
namespace {

// EM_AMDGPU and EM_CUDA are the registered numbers (gABI); older elf.h lack the first.
constexpr uint16_t kAmdGpu = 224;
constexpr uint16_t kCuda = 190;

uint64_t Field(std::string_view bytes, size_t offset, size_t size, bool big_endian) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    const size_t at = big_endian ? offset + i : offset + size - 1 - i;
    value = value << 8 | static_cast<unsigned char>(bytes[at]);
  }
  return value;
}

}  // namespace

absl::StatusOr<ElfHeader> ReadElfHeader(std::string_view bytes, std::string_view name) {
  const auto fault = [&](std::string_view text) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", name, text));
  };
  if (bytes.size() < EI_NIDENT || bytes.substr(0, SELFMAG) != std::string_view(ELFMAG, SELFMAG)) {
    return fault("not an ELF file");
  }
  const auto file_class = static_cast<unsigned char>(bytes[EI_CLASS]);
  const auto data = static_cast<unsigned char>(bytes[EI_DATA]);
  if (file_class != ELFCLASS32 && file_class != ELFCLASS64) return fault(fmt::format("ELF class {}", file_class));
  if (data != ELFDATA2LSB && data != ELFDATA2MSB) return fault(fmt::format("ELF data encoding {}", data));
  const bool wide = file_class == ELFCLASS64;
  if (bytes.size() < (wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr))) return fault("the ELF header is cut");
  const bool big = data == ELFDATA2MSB;
  ElfHeader header;
  header.bits = wide ? 64 : 32;
  header.os_abi = static_cast<uint8_t>(bytes[EI_OSABI]);
  header.machine = static_cast<uint16_t>(Field(bytes, offsetof(Elf64_Ehdr, e_machine), 2, big));
  header.flags =
      static_cast<uint32_t>(Field(bytes, wide ? offsetof(Elf64_Ehdr, e_flags) : offsetof(Elf32_Ehdr, e_flags), 4, big));
  return header;
}

std::string MachineName(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "i386";
    case EM_RISCV:
      return "riscv";
    case kAmdGpu:
      return "amdgpu";
    case kCuda:
      return "cuda";
    default:
      return fmt::format("machine 0x{:x}", machine);
  }
}

}  // namespace pyptox::backends
