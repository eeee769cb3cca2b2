#include "backends/runner/manifest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "backends/runner/json_object.h"
#include "base/canonical_json.h"
#include "base/relative_path.h"

namespace pyptox::runner {
namespace {

constexpr uint64_t kMax32 = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kMax64 = std::numeric_limits<uint64_t>::max();
// One buffer's storage at most: guards arithmetic, and is far beyond any host's memory.
constexpr uint64_t kMaxBufferBytes = uint64_t{1} << 40;
constexpr uint64_t kMaxAlign = 4096;
// Integers up to here are exact as the doubles that a rule is written in.
constexpr double kMaxExact = 9007199254740992.0;

std::optional<FileRegion> ReadRegion(JsonObject& parent, std::string_view key) {
  std::optional<JsonObject> object = parent.Object(key);
  if (!object.has_value()) return std::nullopt;
  FileRegion region;
  region.path = object->RequiredString("path");
  region.offset = object->Unsigned("offset", kMaxBufferBytes);
  region.packed = object->Bool("packed");
  object->Finish();
  return region;
}

std::optional<GenerateRule> ReadRule(JsonObject& parent) {
  std::optional<JsonObject> object = parent.Object("generate");
  if (!object.has_value()) return std::nullopt;
  GenerateRule rule;
  const int kind = object->Enum("kind", "GENERATE_KIND_", {"ZERO", "IOTA", "UNIFORM", "BITS"});
  if (kind == 0) object->Fail("kind", "missing");
  rule.kind = static_cast<GenerateKind>(kind);
  rule.seed = object->Unsigned("seed", kMax64);
  rule.low = object->Double("low");
  rule.high = object->Double("high");
  if (!(rule.low <= rule.high)) object->Fail("high", "below low");
  object->Finish();
  return rule;
}

// The bounds of an integer's rule are integers that the type can hold.
bool BoundsFit(const GenerateRule& rule, compare::DType dtype) {
  const compare::DTypeInfo& info = compare::InfoOf(dtype);
  if (info.kind == compare::DTypeKind::kFloat) return std::isfinite(rule.high - rule.low);
  const bool is_signed = info.kind == compare::DTypeKind::kSigned;
  const double end = std::ldexp(1.0, static_cast<int>(8 * info.bytes) - (is_signed ? 1 : 0));
  return std::trunc(rule.low) == rule.low && std::trunc(rule.high) == rule.high &&
         rule.low >= std::max(is_signed ? -end : 0.0, -kMaxExact) && rule.high <= std::min(end - 1, kMaxExact);
}

// Nothing when a product passes 64 bits.
std::optional<std::vector<uint64_t>> DenseStrides(const std::vector<uint64_t>& shape) {
  std::vector<uint64_t> strides(shape.size());
  uint64_t step = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = step;
    if (__builtin_mul_overflow(step, shape[axis], &step)) return std::nullopt;
  }
  return strides;
}

// Fills in dense strides and the storage's length. False when it would pass kMaxBufferBytes.
bool LayOut(BufferSpec* buffer) {
  bool empty = false;
  for (const uint64_t extent : buffer->shape) {
    if (extent > kMaxBufferBytes) return false;
    empty = empty || extent == 0;
  }
  if (buffer->strides.empty()) {
    std::optional<std::vector<uint64_t>> dense = DenseStrides(buffer->shape);
    if (!dense.has_value()) return false;
    buffer->strides = *std::move(dense);
  }
  uint64_t last = 0;
  for (size_t axis = 0; !empty && axis < buffer->shape.size(); ++axis) {
    uint64_t reach = 0;
    if (__builtin_mul_overflow(buffer->shape[axis] - 1, buffer->strides[axis], &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return false;
    }
  }
  if (last >= kMaxBufferBytes / 8) return false;
  buffer->bytes = empty ? 0 : (last + 1) * compare::InfoOf(buffer->dtype).bytes;
  return true;
}

BufferSpec ReadBuffer(JsonObject& object, int32_t expect_status) {
  BufferSpec buffer;
  buffer.name = object.RequiredString("name");
  if (!CheckName(buffer.name).ok()) object.Fail("name", "not a name of letters, digits, '.', '_' and '-'");
  // The output's file is NAME.bin, and the safetensors format has another use for the one word.
  if (buffer.name.size() > 251) object.Fail("name", "longer than 251 bytes");
  if (buffer.name == "__metadata__") object.Fail("name", "a word of the safetensors format");
  const int role = object.Enum("role", "ROLE_", {"IN", "OUT", "INOUT"});
  if (role == 0) object.Fail("role", "missing");
  buffer.role = static_cast<Role>(role);
  const int dtype = object.Enum(
      "dtype", "DTYPE_", {"F32", "F64", "F16", "BF16", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64", "BOOL"});
  if (dtype == 0) object.Fail("dtype", "missing");
  buffer.dtype = compare::DTypeByNumber(dtype).value_or(compare::DType::kU8);
  buffer.shape = object.UnsignedList("shape");
  buffer.strides = object.UnsignedList("strides");
  if (!buffer.strides.empty() && buffer.strides.size() != buffer.shape.size()) {
    object.Fail("strides", "another rank than shape");
    buffer.strides.clear();
  }
  buffer.generate = ReadRule(object);
  if (buffer.generate.has_value() && !BoundsFit(*buffer.generate, buffer.dtype)) {
    object.Fail("generate", "low and high do not fit the dtype");
  }
  buffer.file = ReadRegion(object, "file");
  buffer.golden = ReadRegion(object, "golden");
  if (const uint64_t align = object.Unsigned("align", kMaxAlign); align != 0) buffer.align = align;
  if (!std::has_single_bit(buffer.align)) object.Fail("align", "not a power of two");
  buffer.misalign = object.Unsigned("misalign", kMaxAlign - 1);
  object.Finish();
  if (!LayOut(&buffer)) object.Fail("shape", "the buffer is larger than 2^40 bytes");

  const bool has_contents = buffer.generate.has_value() != buffer.file.has_value();
  if (buffer.role != Role::kOut && !has_contents) object.Fail("generate", "exactly one of generate and file is needed");
  if (buffer.role == Role::kOut && (buffer.generate.has_value() || buffer.file.has_value())) {
    object.Fail("generate", "an output has no contents");
  }
  const bool needs_golden = buffer.role != Role::kIn && expect_status == 0;
  if (needs_golden != buffer.golden.has_value()) {
    object.Fail("golden", needs_golden ? "missing" : "an input, or a case that is refused, has no golden");
  }
  return buffer;
}

ParamSpec ReadParam(JsonObject& object) {
  ParamSpec param;
  param.is_float = object.Has("f64");
  if (param.is_float == object.Has("i64")) object.Fail("i64", "exactly one of i64 and f64 is needed");
  param.i64 = object.Signed("i64", std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
  param.f64 = object.Double("f64");
  object.Finish();
  return param;
}

}  // namespace

bool IsDense(const BufferSpec& buffer) { return buffer.strides == DenseStrides(buffer.shape); }

absl::StatusOr<Manifest> ParseManifest(std::string_view text, std::string_view name) {
  absl::StatusOr<nlohmann::json> json = ParseJson(text, name);
  if (!json.ok()) return json.status();
  absl::Status status;
  JsonObject object(*json, std::string(name), &status);
  Manifest manifest;
  manifest.case_name = object.RequiredString("case");
  manifest.module = object.RequiredString("module");
  manifest.symbol = object.RequiredString("symbol");
  manifest.repeat = static_cast<uint32_t>(object.Unsigned("repeat", 100));
  if (manifest.repeat == 0) object.Fail("repeat", "not in 1 to 100");
  manifest.expect_status = static_cast<int32_t>(object.Signed("expect_status", INT32_MIN, INT32_MAX));
  manifest.output_dir = object.RequiredString("output_dir");
  manifest.safetensors = object.Bool("safetensors");
  manifest.sve_vector_bytes = static_cast<uint32_t>(object.Unsigned("sve_vector_bytes", 256));
  if (const uint64_t ms = object.Unsigned("timeout_ms", kMax32); ms != 0)
    manifest.timeout_ms = static_cast<uint32_t>(ms);
  std::set<std::string> names;
  for (JsonObject& member : object.List("buffers")) {
    manifest.buffers.push_back(ReadBuffer(member, manifest.expect_status));
    if (!names.insert(manifest.buffers.back().name).second) member.Fail("name", "a second buffer of this name");
  }
  const bool writes = std::any_of(manifest.buffers.begin(), manifest.buffers.end(),
                                  [](const BufferSpec& buffer) { return buffer.role != Role::kIn; });
  if (!writes) object.Fail("buffers", "no out or inout buffer: the case would compare nothing");
  for (JsonObject& member : object.List("params")) manifest.params.push_back(ReadParam(member));
  object.Finish();
  if (!status.ok()) return status;
  return manifest;
}

}  // namespace pyptox::runner
