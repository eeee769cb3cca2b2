// The launch manifest as the runner uses it: pyptox.v1.LaunchManifest (proto/pyptox/v1/launch.proto), read strictly.
#ifndef PYPTOX_BACKENDS_RUNNER_MANIFEST_H_
#define PYPTOX_BACKENDS_RUNNER_MANIFEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/compare/dtype.h"
#include "backends/runner/generate.h"

namespace pyptox::runner {

enum class Role { kIn = 1, kOut = 2, kInOut = 3 };

// Bytes out of a file.
struct FileRegion {
  std::string path;
  uint64_t offset = 0;
  // The file may hold more than the region; otherwise it ends where the region ends.
  bool packed = false;
};

struct BufferSpec {
  std::string name;
  Role role = Role::kIn;
  compare::DType dtype = compare::DType::kF32;
  std::vector<uint64_t> shape;
  // In elements; always filled in, dense when the manifest has none.
  std::vector<uint64_t> strides;
  std::optional<GenerateRule> generate;
  std::optional<FileRegion> file;
  std::optional<FileRegion> golden;
  uint64_t align = 64;
  uint64_t misalign = 0;
  // Length of the storage: (largest linear index + 1) elements, 0 without elements.
  uint64_t bytes = 0;
};

// Whether the storage is the shape in row-major order without gaps, so that an index of the one is one of the other.
bool IsDense(const BufferSpec& buffer);

struct ParamSpec {
  bool is_float = false;
  int64_t i64 = 0;
  double f64 = 0;
};

struct Manifest {
  std::string case_name;
  std::string module;
  std::string symbol;
  uint32_t repeat = 1;
  std::vector<BufferSpec> buffers;
  std::vector<ParamSpec> params;
  int32_t expect_status = 0;
  std::string output_dir;
  bool safetensors = false;
  uint32_t sve_vector_bytes = 0;
  uint32_t timeout_ms = 60'000;
};

// INVALID_ARGUMENT with `name` and the member's path for anything that breaks the contract.
absl::StatusOr<Manifest> ParseManifest(std::string_view text, std::string_view name);

}  // namespace pyptox::runner

#endif  // PYPTOX_BACKENDS_RUNNER_MANIFEST_H_
