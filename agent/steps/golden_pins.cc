#include "agent/steps/golden_pins.h"

#include <fmt/format.h>

#include "base/relative_path.h"
#include "base/sha256.h"

namespace pyptox::agent {

absl::StatusOr<GoldenPins> GoldenPins::Parse(std::string_view text, std::string_view file) {
  constexpr size_t kDigest = 64;
  GoldenPins pins;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    const bool shaped = line.size() > kDigest + 2 && line[kDigest] == ' ' &&
                        (line[kDigest + 1] == ' ' || line[kDigest + 1] == '*') &&
                        Digest::FromHex(line.substr(0, kDigest)).ok();
    if (!shaped || !CheckRelativePath(line.substr(kDigest + 2)).ok()) {
      return absl::InvalidArgumentError(fmt::format("{}:{}: not `DIGEST  NAME`", file, number));
    }
    const auto [at, added] =
        pins.pins_.emplace(std::string(line.substr(kDigest + 2)), std::string(line.substr(0, kDigest)));
    if (!added) return absl::InvalidArgumentError(fmt::format("{}:{}: {} is pinned twice", file, number, at->first));
  }
  return pins;
}

std::string GoldenPins::FaultOf(const std::string& name, const std::string& sha256) const {
  const auto at = pins_.find(name);
  if (at == pins_.end()) return fmt::format("{} is not pinned", name);
  if (at->second == sha256) return "";
  return fmt::format("{} has the digest {}, pinned is {}", name, sha256, at->second);
}

}  // namespace pyptox::agent
