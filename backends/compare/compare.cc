#include "backends/compare/compare.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include "backends/compare/float_bits.h"

namespace pyptox::compare {
namespace {

using Bytes = std::span<const std::byte>;

constexpr size_t kWorstCount = 5;
// Equal stretches are skipped by memcmp in blocks of this many bytes.
constexpr size_t kBlock = 4096;

uint64_t BitsOf(Bytes element) {
  uint64_t bits = 0;
  for (size_t i = element.size(); i-- > 0;) bits = bits << 8 | static_cast<uint64_t>(element[i]);
  return bits;
}

int64_t SignedOf(uint64_t bits, size_t bytes) {
  const int unused = 64 - static_cast<int>(8 * bytes);
  return static_cast<int64_t>(bits << unused) >> unused;
}

// Position on the line of all representable numbers, -infinity first. The bits are not a NaN.
uint64_t Position(uint64_t bits, size_t bytes) {
  const uint64_t half = uint64_t{1} << (8 * bytes - 1);
  const uint64_t magnitude = bits & (half - 1);
  return (bits & half) != 0 ? half - 1 - magnitude : half + magnitude;
}

bool NotABool(Bytes element) { return element[0] != std::byte{0} && element[0] != std::byte{1}; }

std::vector<uint64_t> MultiIndex(uint64_t index, std::span<const uint64_t> shape) {
  std::vector<uint64_t> at(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    at[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return at;
}

template <typename T>
std::string ShortestDecimal(T value) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), end.ptr);
}

// Tries ever more digits until the text reads back as the same bits of the narrow type.
std::string ShortestNarrowDecimal(uint64_t bits, DType dtype) {
  const double value = DoubleFromFloatBits(dtype, bits);
  for (int digits = 1; digits <= std::numeric_limits<double>::max_digits10; ++digits) {
    std::array<char, 64> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits);
    double back = 0;
    std::from_chars(text.data(), end.ptr, back);
    if (FloatBitsFromDouble(dtype, back) == bits) return std::string(text.data(), end.ptr);
  }
  return ShortestDecimal(value);
}

std::string FloatDecimal(uint64_t bits, const DTypeInfo& info) {
  const bool negative = (bits >> (8 * info.bytes - 1) & 1) != 0;
  switch (ClassOf(info.dtype, bits)) {
    case FloatClass::kNan:
      return negative ? "-nan" : "nan";
    case FloatClass::kInfinity:
      return negative ? "-inf" : "inf";
    case FloatClass::kZero:
      return negative ? "-0" : "0";
    case FloatClass::kFinite:
      break;
  }
  if (info.dtype == DType::kF64) return ShortestDecimal(DoubleFromFloatBits(info.dtype, bits));
  if (info.dtype == DType::kF32) return ShortestDecimal(static_cast<float>(DoubleFromFloatBits(info.dtype, bits)));
  return ShortestNarrowDecimal(bits, info.dtype);
}

// Collects what the differing elements say.
class Collector {
 public:
  Collector(Bytes expected, Bytes actual, DType dtype, std::span<const uint64_t> shape, Comparison* result)
      : expected_(expected), actual_(actual), info_(InfoOf(dtype)), result_(result) {
    uint64_t product = 1;
    for (const uint64_t extent : shape) product *= extent;
    if (product == result->elements) shape_ = shape;
  }

  void Add(uint64_t index) {
    const Bytes expected = Element(expected_, index);
    const Bytes actual = Element(actual_, index);
    ++result_->different;
    const uint64_t distance = DistanceOf(expected, actual, info_.dtype);
    // A cut element is no number.
    if (expected.size() == info_.bytes) Classify(BitsOf(expected), BitsOf(actual), distance);
    if (!result_->first.has_value()) result_->first = Describe(index, distance);
    // Indices come in ascending order, so an equal distance never replaces an earlier one.
    if (worst_.size() < kWorstCount || distance > worst_.back().distance) {
      const auto at = std::upper_bound(worst_.begin(), worst_.end(), distance,
                                       [](uint64_t d, const Ranked& ranked) { return d > ranked.distance; });
      worst_.insert(at, {distance, index});
      if (worst_.size() > kWorstCount) worst_.pop_back();
    }
  }

  void Finish() {
    for (const Ranked& ranked : worst_) result_->worst.push_back(Describe(ranked.index, ranked.distance));
  }

 private:
  struct Ranked {
    uint64_t distance;
    uint64_t index;
  };

  Bytes Element(Bytes storage, uint64_t index) const {
    const size_t begin = index * info_.bytes;
    return storage.subspan(begin, std::min(info_.bytes, storage.size() - begin));
  }

  void Classify(uint64_t expected, uint64_t actual, uint64_t distance) {
    if (info_.kind == DTypeKind::kFloat) {
      const FloatClass a = ClassOf(info_.dtype, expected);
      const FloatClass b = ClassOf(info_.dtype, actual);
      if (a == FloatClass::kNan && b == FloatClass::kNan) {
        ++result_->nan_bits;
        return;
      }
      if (a == FloatClass::kNan || b == FloatClass::kNan) {
        ++result_->nan_one_side;
        return;
      }
      if (a == FloatClass::kZero && b == FloatClass::kZero) ++result_->zero_sign;
    }
    result_->max_ulp = std::max(result_->max_ulp, distance);
  }

  ElementDifference Describe(uint64_t index, uint64_t distance) const {
    const Bytes expected = Element(expected_, index);
    const Bytes actual = Element(actual_, index);
    ElementDifference difference;
    difference.index = index;
    if (!shape_.empty()) difference.multi_index = MultiIndex(index, shape_);
    difference.expected_hex = HexOf(expected);
    difference.actual_hex = HexOf(actual);
    difference.expected = DecimalOf(expected, info_.dtype);
    difference.actual = DecimalOf(actual, info_.dtype);
    difference.ulp = distance;
    return difference;
  }

  Bytes expected_;
  Bytes actual_;
  const DTypeInfo& info_;
  std::span<const uint64_t> shape_;
  Comparison* result_;
  std::vector<Ranked> worst_;
};

bool HoldsNoBool(Bytes storage) {
  return std::any_of(storage.begin(), storage.end(), [](std::byte b) { return b > std::byte{1}; });
}

}  // namespace

std::string HexOf(Bytes element) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex = "0x";
  for (size_t i = element.size(); i-- > 0;) {
    hex.push_back(kDigits[static_cast<int>(element[i]) >> 4]);
    hex.push_back(kDigits[static_cast<int>(element[i]) & 15]);
  }
  return hex;
}

std::string DecimalOf(Bytes element, DType dtype) {
  const DTypeInfo& info = InfoOf(dtype);
  if (element.size() < info.bytes) return "cut element";
  const uint64_t bits = BitsOf(element);
  switch (info.kind) {
    case DTypeKind::kFloat:
      return FloatDecimal(bits, info);
    case DTypeKind::kSigned:
      return ShortestDecimal(SignedOf(bits, info.bytes));
    case DTypeKind::kUnsigned:
    case DTypeKind::kBool:
      return ShortestDecimal(bits);
  }
  return "";
}

uint64_t DistanceOf(Bytes a, Bytes b, DType dtype) {
  const DTypeInfo& info = InfoOf(dtype);
  if (a.size() < info.bytes || b.size() < info.bytes) return kNoDistance;
  const uint64_t x = BitsOf(a);
  const uint64_t y = BitsOf(b);
  if (info.kind == DTypeKind::kSigned) {
    const int64_t p = SignedOf(x, info.bytes);
    const int64_t q = SignedOf(y, info.bytes);
    // Exact in unsigned arithmetic: the difference of two 64-bit integers has at most 64 bits.
    return p > q ? static_cast<uint64_t>(p) - static_cast<uint64_t>(q)
                 : static_cast<uint64_t>(q) - static_cast<uint64_t>(p);
  }
  if (info.kind != DTypeKind::kFloat) return x > y ? x - y : y - x;
  if (ClassOf(dtype, x) == FloatClass::kNan || ClassOf(dtype, y) == FloatClass::kNan) return x == y ? 0 : kNoDistance;
  const uint64_t p = Position(x, info.bytes);
  const uint64_t q = Position(y, info.bytes);
  return p > q ? p - q : q - p;
}

Comparison Compare(Bytes expected, Bytes actual, DType dtype, std::span<const uint64_t> shape) {
  const DTypeInfo& info = InfoOf(dtype);
  Comparison result;
  result.expected_bytes = expected.size();
  result.actual_bytes = actual.size();
  if (expected.size() != actual.size()) return result;
  result.elements = (expected.size() + info.bytes - 1) / info.bytes;
  const bool same = expected.empty() || std::memcmp(expected.data(), actual.data(), expected.size()) == 0;
  const bool bad_bool = info.kind == DTypeKind::kBool && HoldsNoBool(actual);
  result.equal = same && !bad_bool;
  if (result.equal) return result;

  Collector collector(expected, actual, dtype, shape, &result);
  for (size_t block = 0; block < expected.size(); block += kBlock) {
    const size_t size = std::min(kBlock, expected.size() - block);
    if (!bad_bool && std::memcmp(expected.data() + block, actual.data() + block, size) == 0) continue;
    for (size_t at = block; at < block + size; at += info.bytes) {
      const size_t width = std::min(info.bytes, expected.size() - at);
      const bool differs = std::memcmp(expected.data() + at, actual.data() + at, width) != 0;
      if (differs || (bad_bool && NotABool(actual.subspan(at, 1)))) collector.Add(at / info.bytes);
    }
  }
  collector.Finish();
  return result;
}

}  // namespace pyptox::compare
