#include "backends/inspect/disassembly.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace pyptox::backends {
namespace {

// Captured from GNU objdump 2.40: `objdump -d` (raw) and `objdump -d --no-show-raw-insn` (plain) of small C files.
std::string Fixture(const std::string& name) {
  const std::string folder = std::string(std::getenv("PYPTOX_SOURCE_DIR")) + "/tests/unit/backends/inspect/fixtures/";
  std::ifstream in(folder + name);
  EXPECT_TRUE(in.good()) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

uint64_t ClassCount(const InstructionCounts& counts, const std::string& name) {
  const auto at = counts.by_class.find(name);
  return at == counts.by_class.end() ? 0 : at->second;
}

uint64_t OpCount(const InstructionCounts& counts, const std::string& name) {
  const auto at = counts.by_mnemonic.find(name);
  return at == counts.by_mnemonic.end() ? 0 : at->second;
}

uint64_t CountOne(const std::string& instruction, const std::string& name) {
  const InstructionCounts counts = CountInstructions("  10:\t" + instruction + "\n");
  EXPECT_EQ(counts.instructions, 1u) << instruction;
  return ClassCount(counts, name);
}

// Counted by hand in the fixtures; a symbol there is called `z0`, one `ymm1`.
TEST(Disassembly, Aarch64) {
  for (const char* name : {"aarch64_raw.txt", "aarch64_plain.txt"}) {
    const InstructionCounts counts = CountInstructions(Fixture(name));
    EXPECT_EQ(counts.instructions, 38u) << name;
    EXPECT_EQ(ClassCount(counts, "neon"), 3u) << name;
    EXPECT_EQ(ClassCount(counts, "sve-z"), 4u) << name;
    EXPECT_EQ(ClassCount(counts, "sve-p"), 5u) << name;
    EXPECT_EQ(ClassCount(counts, "xmm") + ClassCount(counts, "ymm") + ClassCount(counts, "zmm"), 0u) << name;
    EXPECT_EQ(OpCount(counts, "whilelt"), 1u) << name;
    EXPECT_EQ(OpCount(counts, "ld1w"), 2u) << name;
    EXPECT_EQ(OpCount(counts, "ret"), 6u) << name;
    EXPECT_EQ(OpCount(counts, "b.le"), 1u) << name;
  }
}

TEST(Disassembly, X86) {
  for (const char* name : {"x86_64_raw.txt", "x86_64_plain.txt"}) {
    const InstructionCounts counts = CountInstructions(Fixture(name));
    EXPECT_EQ(counts.instructions, 49u) << name;
    EXPECT_EQ(ClassCount(counts, "xmm"), 2u) << name;
    EXPECT_EQ(ClassCount(counts, "ymm"), 3u) << name;
    EXPECT_EQ(ClassCount(counts, "zmm"), 3u) << name;
    EXPECT_EQ(ClassCount(counts, "neon") + ClassCount(counts, "sve-z") + ClassCount(counts, "sve-p"), 0u) << name;
    EXPECT_EQ(OpCount(counts, "vaddps"), 2u) << name;
    // Prefixes are not the mnemonic.
    EXPECT_EQ(OpCount(counts, "stos"), 1u) << name;
    EXPECT_EQ(OpCount(counts, "xadd"), 1u) << name;
    EXPECT_EQ(OpCount(counts, "rep") + OpCount(counts, "lock") + OpCount(counts, "cs"), 0u) << name;
    EXPECT_EQ(OpCount(counts, "movabs"), 1u) << name;
  }
}

TEST(Disassembly, CutAnywhereNeverCountsMore) {
  const std::string text = Fixture("x86_64_raw.txt");
  const uint64_t all = CountInstructions(text).instructions;
  for (size_t size = 0; size < text.size(); ++size) {
    ASSERT_LE(CountInstructions(text.substr(0, size)).instructions, all) << size;
  }
}

TEST(Disassembly, ScalarRegistersAreNotNeon) {
  for (const char* scalar : {"fadd\ts0, s1, s2", "fadd\td0, d1, d2", "fcvt\th0, s1", "ldr\td0, [x1]", "ldrb\tw0, [x1]",
                             "bl\t40 <v0.4s>", "b\t40 <q1>", "mov\tx0, sp"}) {
    EXPECT_EQ(CountOne(scalar, "neon"), 0u) << scalar;
  }
  for (const char* vector : {"fadd\tv0.4s, v1.4s, v31.4s", "ld1\t{v0.16b, v1.16b}, [x0]", "ldr\tq31, [x0]",
                             "stp\tq0, q1, [sp, #32]", "umov\tw0, v1.b[3]", "dup\tv0.2d, x1"}) {
    EXPECT_EQ(CountOne(vector, "neon"), 1u) << vector;
  }
}

TEST(Disassembly, RegistersEndWhereTheyEnd) {
  EXPECT_EQ(CountOne("add\tz31.s, z0.s, #1", "sve-z"), 1u);
  EXPECT_EQ(CountOne("add\tz32.s, z33.s, #1", "sve-z"), 0u);
  EXPECT_EQ(CountOne("ptrue\tp15.b", "sve-p"), 1u);
  EXPECT_EQ(CountOne("ptrue\tp16.b", "sve-p"), 0u);
  EXPECT_EQ(CountOne("vpaddd %xmm31,%xmm1,%xmm2", "xmm"), 1u);
  EXPECT_EQ(CountOne("vmovaps xmm0,XMMWORD PTR [rax]", "xmm"), 1u);
  EXPECT_EQ(CountOne("prfw\t#15, p3, [x0]", "sve-p"), 1u);
  EXPECT_EQ(CountOne("call   40 <ymm0>        # ymm1", "ymm"), 0u);
}

TEST(Disassembly, AnInstructionCountsOnceInAClassAndInSeveral) {
  const InstructionCounts counts =
      CountInstructions("  0:\tvextractf128 $0x1,%ymm0,%xmm0\n 6:\tvaddps %ymm0,%ymm0,%ymm0");
  EXPECT_EQ(counts.instructions, 2u);
  EXPECT_EQ(ClassCount(counts, "ymm"), 2u);
  EXPECT_EQ(ClassCount(counts, "xmm"), 1u);
}

TEST(Disassembly, WideAddressesAndShortMnemonicsOfHexDigits) {
  EXPECT_EQ(CountInstructions("ffffffff81000000:\t90                   \tnop\n").instructions, 1u);
  EXPECT_EQ(OpCount(CountInstructions("   0:\tadd\tx0, x1, x2\n"), "add"), 1u);
  EXPECT_EQ(OpCount(CountInstructions("   0:\t8b020020 \tadd\tx0, x1, x2\n"), "add"), 1u);
}

// As GNU objdump 2.40 writes them.
TEST(Disassembly, PrefixesAreNoMnemonics) {
  const struct {
    const char* line;
    const char* mnemonic;
  } table[] = {{"c4 e2 75 50 d0       \t{vex} vpdpbusd %ymm0,%ymm1,%ymm2", "vpdpbusd"},
               {"62 f1 74 28 58 d0    \t{evex} vaddps %ymm0,%ymm1,%ymm2", "vaddps"},
               {"48 e8 00 00 00 00    \trex.W call 0xe", "call"},
               {"f2 f0 01 03          \txacquire lock add %eax,(%rbx)", "add"},
               {"f3 c6 00 01          \txrelease movb $0x1,(%rax)", "movb"},
               {"64 90                \tfs nop", "nop"},
               {"66 66 2e 0f 1f 84 00 \tdata16 cs nopw 0x0(%rax,%rax,1)", "nopw"},
               {"f3 c3                \trepz ret", "ret"}};
  for (const auto& row : table) {
    const InstructionCounts counts = CountInstructions("  10:\t" + std::string(row.line) + "\n");
    EXPECT_EQ(counts.instructions, 1u) << row.line;
    EXPECT_EQ(counts.by_mnemonic.size(), 1u) << row.line;
    EXPECT_EQ(OpCount(counts, row.mnemonic), 1u) << row.line;
  }
}

TEST(Disassembly, SymbolsNamedLikeRegistersAreNoOperands) {
  EXPECT_EQ(CountOne("call   1140 <ymm0_helper>", "ymm"), 0u);
  EXPECT_EQ(CountOne("call   1140 <ymm0>", "ymm"), 0u);
  EXPECT_EQ(CountOne("lea    0xec1(%rip),%rdi        # 2004 <zmm1+0x4>", "zmm"), 0u);
  EXPECT_EQ(CountOne("vmovaps 0x2ee2(%rip),%ymm1        # 4020 <xmm0>", "ymm"), 1u);
  EXPECT_EQ(CountOne("bl\t7d4 <p0>", "sve-p"), 0u);
}

// Of four instructions two are so long that objdump breaks their bytes over two lines.
TEST(Disassembly, LongInstructionsContinueWithoutBeingCountedTwice) {
  const char* const text =
      "  401000:\t62 f1 7c 48 10 05 36 \tvmovups 0x36(%rip),%zmm0        # 401040 <table>\n"
      "  401007:\t00 00 00 \n"
      "  40100a:\t62 f1 fd 48 6f 94 24 \tvmovdqa64 0x1000(%rsp),%zmm2\n"
      "  401011:\t00 10 00 00 \n"
      "  401015:\tc5 f8 77             \tvzeroupper \n"
      "  401018:\tc3                   \tret\n";
  const InstructionCounts counts = CountInstructions(text);
  EXPECT_EQ(counts.instructions, 4u);
  EXPECT_EQ(ClassCount(counts, "zmm"), 2u);
  EXPECT_EQ(OpCount(counts, "vzeroupper"), 1u);
}

TEST(Disassembly, OtherLinesAreNoInstructions) {
  const char* const text =
      "\n"
      "kernels.so:     file format elf64-x86-64\n"
      "Disassembly of section .text:\n"
      "0000000000001139 <ymm0>:\n"
      "\t...\n"
      "  40:\t(bad)\n"
      "  44:\t.inst\t0x00000000 ; undefined\n"
      "  47:\t33 22 11 \n"
      "no colon at all\n"
      ":\n";
  EXPECT_EQ(CountInstructions(text).instructions, 0u);
}

}  // namespace
}  // namespace pyptox::backends
