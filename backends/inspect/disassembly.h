// Counts instructions by class in the text of a disassembler (GNU objdump -d, with or without raw bytes). Pure.
//
// An instruction belongs to a class when one of its operands is a register of the class:
//   xmm, ymm, zmm  those registers (x86-64)
//   sve-z, sve-p   z0 to z31, p0 to p15 (AArch64)
//   neon           v0 to v31 with an arrangement (v3.4s, {v0.16b}), or q0 to q31 (AArch64); never scalar s, d or h
// Besides: `insn` is every instruction, `op:MNEMONIC` every one of that mnemonic, e.g. op:whilelo.
#ifndef PYPTOX_BACKENDS_INSPECT_DISASSEMBLY_H_
#define PYPTOX_BACKENDS_INSPECT_DISASSEMBLY_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace pyptox::backends {

struct InstructionCounts {
  uint64_t instructions = 0;
  // xmm, ymm, zmm, sve-z, sve-p, neon.
  std::map<std::string, uint64_t, std::less<>> by_class;
  std::map<std::string, uint64_t, std::less<>> by_mnemonic;
};

// Lines that are no instructions (headings, symbols, blank ones, data) are passed over.
InstructionCounts CountInstructions(std::string_view text);

}  // namespace pyptox::backends

#endif  // PYPTOX_BACKENDS_INSPECT_DISASSEMBLY_H_
