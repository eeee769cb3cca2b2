// Rules of one case and its buffers.
#include <fmt/format.h>

#include <bit>
#include <set>

#include "matrix/fault_list.h"

namespace pyptox::matrix {
namespace {

constexpr uint32_t kMaxAlign = 4096;
// Storage of one buffer at most, bytes; the runner's bound.
constexpr uint64_t kMaxBufferBytes = uint64_t{1} << 40;

void CheckRegion(const v1::FileRegion& region, const std::string& path, FaultList* faults) {
  faults->CheckPathAt(path + ".path", region.path());
  if (region.offset() > kMaxBufferBytes) faults->Add(path + ".offset", "beyond 2^40");
}

void CheckGenerate(const v1::Generate& generate, v1::DType dtype, const std::string& path, FaultList* faults) {
  if (generate.kind() == v1::GENERATE_KIND_UNSPECIFIED) faults->Add(path + ".kind", "missing");
  if (generate.kind() != v1::GENERATE_KIND_UNIFORM) return;
  if (!(generate.low() <= generate.high())) {
    faults->Add(path + ".low", fmt::format("low {} is not at most high {}", generate.low(), generate.high()));
  }
  const bool integer = dtype >= v1::DTYPE_I8 && dtype <= v1::DTYPE_U64;
  const auto whole = [](double value) {
    return value >= -0x1p63 && value < 0x1p63 && value == static_cast<double>(static_cast<int64_t>(value));
  };
  if (integer && !(whole(generate.low()) && whole(generate.high()))) {
    faults->Add(path + ".low", "bounds of an integer type are whole numbers");
  }
}

void CheckLayout(const v1::Buffer& buffer, const std::string& path, FaultList* faults) {
  if (buffer.strides_size() != 0 && buffer.strides_size() != buffer.shape_size()) {
    faults->Add(path + ".strides", fmt::format("{} strides for {} axes", buffer.strides_size(), buffer.shape_size()));
  }
  uint64_t elements = 1;
  for (const uint64_t extent : buffer.shape()) {
    if (__builtin_mul_overflow(elements, extent, &elements) || elements > kMaxBufferBytes / 8) {
      faults->Add(path + ".shape", "more than 2^40 bytes");
      return;
    }
  }
  if (buffer.align() != 0 && (!std::has_single_bit(buffer.align()) || buffer.align() > kMaxAlign)) {
    faults->Add(path + ".align", fmt::format("{} is not a power of two up to {}", buffer.align(), kMaxAlign));
  }
  if (buffer.misalign() >= kMaxAlign) faults->Add(path + ".misalign", fmt::format("not below {}", kMaxAlign));
}

void CheckContents(const v1::Buffer& buffer, bool refused, const std::string& path, FaultList* faults) {
  const int contents = int{buffer.has_generate()} + int{buffer.has_file()};
  const bool reads = buffer.role() != v1::ROLE_OUT;
  if (reads && contents != 1) faults->Add(path, "an in or inout buffer has exactly one of `generate` and `file`");
  if (!reads && contents != 0) faults->Add(path, "an out buffer has no contents");
  const bool writes = buffer.role() != v1::ROLE_IN;
  if (writes && !refused && !buffer.has_golden()) faults->Add(path + ".golden", "missing");
  if (buffer.has_golden() && !writes) faults->Add(path + ".golden", "an in buffer has no golden");
  if (buffer.has_golden() && refused) faults->Add(path + ".golden", "a case that must be refused has no golden");
  if (buffer.has_generate()) CheckGenerate(buffer.generate(), buffer.dtype(), path + ".generate", faults);
  if (buffer.has_file()) CheckRegion(buffer.file(), path + ".file", faults);
  if (buffer.has_golden()) CheckRegion(buffer.golden(), path + ".golden", faults);
}

}  // namespace

void CheckCase(const v1::Case& one, const std::string& path, FaultList* faults) {
  faults->CheckNameAt(path + ".name", one.name());
  if (one.kernel().empty()) faults->Add(path + ".kernel", "missing");
  if (one.buffers_size() > kMaxBuffers) faults->Add(path + ".buffers", fmt::format("more than {}", kMaxBuffers));
  bool writes = false;
  std::set<std::string_view> names;
  for (int i = 0; i < one.buffers_size(); ++i) {
    const v1::Buffer& buffer = one.buffers(i);
    const std::string at = fmt::format("{}.buffers[{}]", path, i);
    faults->CheckNameAt(at + ".name", buffer.name());
    if (!names.insert(buffer.name()).second)
      faults->Add(at + ".name", fmt::format("a second buffer '{}'", buffer.name()));
    if (buffer.role() == v1::ROLE_UNSPECIFIED) faults->Add(at + ".role", "missing");
    if (buffer.dtype() == v1::DTYPE_UNSPECIFIED) faults->Add(at + ".dtype", "missing");
    writes = writes || buffer.role() == v1::ROLE_OUT || buffer.role() == v1::ROLE_INOUT;
    CheckLayout(buffer, at, faults);
    CheckContents(buffer, one.expect_status() != 0, at, faults);
  }
  if (!writes) faults->Add(path + ".buffers", "no out or inout buffer: the case would compare nothing");
  for (int i = 0; i < one.params_size(); ++i) {
    if (one.params(i).value_case() == v1::Param::VALUE_NOT_SET) {
      faults->Add(fmt::format("{}.params[{}]", path, i), "exactly one of `i64` and `f64`");
    }
  }
}

}  // namespace pyptox::matrix
