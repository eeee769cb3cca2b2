#include "backends/runner/result.h"

#include <fmt/format.h>

#include <string_view>

#include "base/file_io.h"

namespace pyptox::runner {
namespace {

using nlohmann::json;

// proto3 JSON writes 64-bit integers as strings.
std::string Number(uint64_t value) { return std::to_string(value); }

json DifferenceJson(const compare::ElementDifference& difference) {
  json out = {{"index", Number(difference.index)},   {"expected_hex", difference.expected_hex},
              {"actual_hex", difference.actual_hex}, {"expected", difference.expected},
              {"actual", difference.actual},         {"ulp", Number(difference.ulp)}};
  for (const uint64_t at : difference.multi_index) out["multi_index"].push_back(Number(at));
  return out;
}

json ComparisonJson(const compare::Comparison& comparison) {
  json out = {{"equal", comparison.equal},
              {"elements", Number(comparison.elements)},
              {"different", Number(comparison.different)},
              {"expected_bytes", Number(comparison.expected_bytes)},
              {"actual_bytes", Number(comparison.actual_bytes)},
              {"max_ulp", Number(comparison.max_ulp)},
              {"nan_bits", Number(comparison.nan_bits)},
              {"nan_one_side", Number(comparison.nan_one_side)},
              {"zero_sign", Number(comparison.zero_sign)}};
  if (comparison.first.has_value()) out["first"] = DifferenceJson(*comparison.first);
  for (const compare::ElementDifference& worst : comparison.worst) out["worst"].push_back(DifferenceJson(worst));
  return out;
}

json BufferJson(const BufferObservation& buffer) {
  json out = {{"name", buffer.name}, {"sha256", buffer.sha256}, {"bytes", Number(buffer.bytes)}};
  if (!buffer.sha256_after.empty()) out["sha256_after"] = buffer.sha256_after;
  if (buffer.comparison.has_value()) out["comparison"] = ComparisonJson(*buffer.comparison);
  return out;
}

json FpJson(const FpControl& state) { return {{"control", ControlHex(state)}, {"rounding", RoundingName(state)}}; }

std::string_view AsText(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Calls `visit(spec, bytes)` for each output of the first launch.
template <typename Visit>
absl::Status ForEachOutput(const Manifest& manifest, const LaunchOutcome& outcome, Visit visit) {
  size_t at = 0;
  for (const BufferSpec& spec : manifest.buffers) {
    if (spec.role == Role::kIn || at == outcome.outputs.size()) continue;
    if (absl::Status status = visit(spec, outcome.outputs[at++]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

json ResultJson(const Judgement& judgement, const Observation& seen) {
  json out = {{"outcome", fmt::format("CASE_OUTCOME_{}", judgement.outcome)},
              {"reason", judgement.reason},
              {"launches", seen.launches.size()},
              {"sve_vector_bytes", seen.sve_vector_bytes}};
  if (seen.end == ChildEnd::kSignal) out["signal"] = seen.end_value;
  for (const LaunchObservation& launch : seen.launches) out["launch_ns"].push_back(Number(launch.nanoseconds));
  if (!seen.launches.empty()) {
    out["kernel_status"] = seen.launches.back().status;
    out["fp_after"] = FpJson(seen.launches.back().after);
  }
  if (seen.load.has_value()) {
    out["fp_before"] = FpJson(seen.load->before);
    if (seen.launches.empty()) out["fp_after"] = FpJson(seen.load->after);
    if (seen.load->state == LoadState::kLoaded) {
      std::string_view rest = seen.load_text;
      for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
        out["loaded"].push_back(std::string(rest.substr(0, end)));
        rest.remove_prefix(end + 1);
      }
    }
  }
  for (const BufferObservation& input : seen.inputs) out["inputs"].push_back(BufferJson(input));
  for (const BufferObservation& output : seen.outputs) out["outputs"].push_back(BufferJson(output));
  return out;
}

std::string Safetensors(const Manifest& manifest, const LaunchOutcome& outcome) {
  json header = json::object();
  std::string data;
  (void)ForEachOutput(manifest, outcome, [&](const BufferSpec& spec, const std::vector<std::byte>& bytes) {
    const uint64_t begin = data.size();
    data.append(AsText(bytes));
    json shape = spec.shape.empty() ? json::array() : json(spec.shape);
    // The format knows row-major order alone: a storage with gaps or permuted axes travels flat.
    if (!IsDense(spec)) shape = json::array({bytes.size() / compare::InfoOf(spec.dtype).bytes});
    header[spec.name] = {{"dtype", std::string(compare::InfoOf(spec.dtype).safetensors)},
                         {"shape", shape},
                         {"data_offsets", {begin, data.size()}}};
    return absl::OkStatus();
  });
  std::string text = header.dump();
  // The format asks for data aligned to 8 bytes; the header may end in blanks.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string file;
  for (uint64_t length = text.size(), i = 0; i < 8; ++i, length >>= 8) file.push_back(static_cast<char>(length));
  return file + text + data;
}

absl::Status WriteOutputs(const Manifest& manifest, const LaunchOutcome& outcome) {
  absl::Status status =
      ForEachOutput(manifest, outcome, [&](const BufferSpec& spec, const std::vector<std::byte>& bytes) {
        return WriteFileAtomically(fmt::format("{}/{}.bin", manifest.output_dir, spec.name), AsText(bytes));
      });
  if (!status.ok() || !manifest.safetensors || outcome.outputs.empty()) return status;
  return WriteFileAtomically(manifest.output_dir + "/outputs.safetensors", Safetensors(manifest, outcome));
}

}  // namespace pyptox::runner
