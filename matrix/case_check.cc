// Rules of one case and its buffers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
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

std::string DTypeWord(v1::DType dtype) {
  std::string word = v1::DType_Name(dtype).substr(std::strlen("DTYPE_"));
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

// The runner's rule: it draws in double, which holds whole numbers exactly up to 2^53.
bool BoundsFit(double low, double high, v1::DType dtype) {
  constexpr double kMaxExact = 0x1p53;
  // Largest value of each integer type, plus one.
  static const std::map<v1::DType, double> kEnds = {
      {v1::DTYPE_I8, 0x1p7},   {v1::DTYPE_I16, 0x1p15}, {v1::DTYPE_I32, 0x1p31},
      {v1::DTYPE_I64, 0x1p63}, {v1::DTYPE_U8, 0x1p8},   {v1::DTYPE_U16, 0x1p16},
      {v1::DTYPE_U32, 0x1p32}, {v1::DTYPE_U64, 0x1p64}, {v1::DTYPE_BOOL, 0x1p8}};
  const auto end = kEnds.find(dtype);
  if (end == kEnds.end()) return std::isfinite(high - low);
  const double lowest = dtype >= v1::DTYPE_U8 ? 0.0 : -end->second;
  return std::trunc(low) == low && std::trunc(high) == high && low >= std::max(lowest, -kMaxExact) &&
         high <= std::min(end->second - 1, kMaxExact);
}

void CheckGenerate(const v1::Generate& generate, v1::DType dtype, const std::string& path, FaultList* faults) {
  if (generate.kind() == v1::GENERATE_KIND_UNSPECIFIED) faults->Add(path + ".kind", "missing");
  if (!(generate.low() <= generate.high())) {
    faults->Add(path + ".low", fmt::format("low {} is not at most high {}", generate.low(), generate.high()));
    return;
  }
  if (!BoundsFit(generate.low(), generate.high(), dtype)) {
    faults->Add(path + ".low", fmt::format("bounds {} and {} do not fit dtype {}: whole numbers of its range and of at "
                                           "most 2^53 for an integer, a finite distance for a float",
                                           generate.low(), generate.high(), DTypeWord(dtype)));
  }
}

// The runner's rule: the last element lies below 2^40 bytes, however wide elements are.
bool StorageFits(const v1::Buffer& buffer) {
  uint64_t step = 1;
  uint64_t last = 0;
  bool empty = false;
  bool overflow = false;
  for (int axis = buffer.shape_size(); axis-- > 0;) {
    const uint64_t extent = buffer.shape(axis);
    if (extent > kMaxBufferBytes) return false;
    const uint64_t stride = buffer.strides().empty() ? step : buffer.strides(axis);
    if (buffer.strides().empty() && __builtin_mul_overflow(step, extent, &step)) return false;
    empty = empty || extent == 0;
    if (empty) continue;
    uint64_t reach = 0;
    overflow = __builtin_mul_overflow(extent - 1, stride, &reach) || overflow;
    overflow = __builtin_add_overflow(last, reach, &last) || overflow;
  }
  return empty || (!overflow && last < kMaxBufferBytes / 8);
}

void CheckLayout(const v1::Buffer& buffer, const std::string& path, FaultList* faults) {
  if (buffer.strides_size() != 0 && buffer.strides_size() != buffer.shape_size()) {
    faults->Add(path + ".strides", fmt::format("{} strides for {} axes", buffer.strides_size(), buffer.shape_size()));
  } else if (!StorageFits(buffer)) {
    faults->Add(path + (buffer.strides().empty() ? ".shape" : ".strides"), "more than 2^40 bytes");
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

// An output's file is NAME.bin, and a file's name has at most 255 bytes.
constexpr size_t kMaxBufferName = 251;

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
    if (buffer.name().size() > kMaxBufferName && buffer.name().size() <= 255)
      faults->Add(at + ".name", fmt::format("longer than {} bytes", kMaxBufferName));
    if (buffer.name() == "__metadata__")
      faults->Add(at + ".name", "'__metadata__' is a word of the safetensors format");
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
