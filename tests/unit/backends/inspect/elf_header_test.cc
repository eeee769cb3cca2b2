#include "backends/inspect/elf_header.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace pyptox::backends {
namespace {

std::string Header64(uint16_t machine, uint32_t flags, uint8_t os_abi) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_OSABI] = os_abi;
  header.e_machine = machine;
  header.e_flags = flags;
  return {reinterpret_cast<const char*>(&header), sizeof(header)};
}

TEST(ElfHeader, ReadsThisVeryProgram) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string bytes(kElfHeaderBytes, '\0');
  self.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const absl::StatusOr<ElfHeader> header = ReadElfHeader(bytes, "self");
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->bits, 64u);
#if defined(__x86_64__)
  EXPECT_EQ(MachineName(header->machine), "x86-64");
#elif defined(__aarch64__)
  EXPECT_EQ(MachineName(header->machine), "aarch64");
#endif
}

TEST(ElfHeader, AmdGpuCodeObject) {
  const absl::StatusOr<ElfHeader> header = ReadElfHeader(Header64(224, 0x45, 64), "gfx.co");
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(MachineName(header->machine), "amdgpu");
  EXPECT_EQ(header->flags, 0x45u);
  EXPECT_EQ(header->os_abi, 64);
}

TEST(ElfHeader, BigEndian32) {
  std::string bytes(sizeof(Elf32_Ehdr), '\0');
  std::memcpy(bytes.data(), ELFMAG, SELFMAG);
  bytes[EI_CLASS] = ELFCLASS32;
  bytes[EI_DATA] = ELFDATA2MSB;
  bytes[offsetof(Elf32_Ehdr, e_machine) + 1] = 8;
  bytes[offsetof(Elf32_Ehdr, e_flags)] = 0x12;
  bytes[offsetof(Elf32_Ehdr, e_flags) + 3] = 0x34;
  const absl::StatusOr<ElfHeader> header = ReadElfHeader(bytes, "mips");
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->bits, 32u);
  EXPECT_EQ(header->machine, 8);
  EXPECT_EQ(header->flags, 0x12000034u);
  EXPECT_EQ(MachineName(header->machine), "machine 0x8");
}

TEST(ElfHeader, EveryCutIsAnError) {
  const std::string whole = Header64(EM_AARCH64, 0, 0);
  ASSERT_TRUE(ReadElfHeader(whole, "k.so").ok());
  for (size_t size = 0; size < whole.size(); ++size) {
    const absl::StatusOr<ElfHeader> header = ReadElfHeader(whole.substr(0, size), "k.so");
    ASSERT_EQ(header.status().code(), absl::StatusCode::kInvalidArgument) << size;
    ASSERT_THAT(std::string(header.status().message()), testing::StartsWith("k.so: "));
  }
}

// What dlopen gets to see in the field: shared objects of this very process, whole and cut.
TEST(ElfHeader, RealFilesAndEveryCutOfTheirHeaders) {
  std::ifstream maps("/proc/self/maps");
  int read = 0;
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/');
    if (path == std::string::npos || line.find(".so", path) == std::string::npos) continue;
    std::ifstream file(line.substr(path), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    ASSERT_TRUE(ReadElfHeader(bytes, "so").ok()) << line;
    for (size_t size = 0; size < kElfHeaderBytes; ++size) ASSERT_FALSE(ReadElfHeader(bytes.substr(0, size), "so").ok());
    ++read;
  }
  EXPECT_GT(read, 0);
}

TEST(ElfHeader, ForeignFilesAreErrors) {
  std::string bytes = Header64(EM_X86_64, 0, 0);
  EXPECT_FALSE(ReadElfHeader(std::string(64, 'x'), "text").ok());
  bytes[EI_CLASS] = 3;
  EXPECT_FALSE(ReadElfHeader(bytes, "class").ok());
  bytes[EI_CLASS] = ELFCLASS64;
  bytes[EI_DATA] = 0;
  EXPECT_FALSE(ReadElfHeader(bytes, "data").ok());
}

TEST(ElfHeader, MachinesHaveTheirUsualNames) {
  EXPECT_EQ(MachineName(EM_X86_64), "x86-64");
  EXPECT_EQ(MachineName(EM_AARCH64), "aarch64");
  EXPECT_EQ(MachineName(190), "cuda");
}

}  // namespace
}  // namespace pyptox::backends
