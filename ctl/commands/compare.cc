// pyptox-ctl compare: two files, element by element, without a controller.
#include "backends/compare/compare.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <charconv>

#include "base/file_io.h"
#include "base/unique_fd.h"
#include "ctl/commands/commands.h"

namespace pyptox::ctl {
namespace {

constexpr char kDTypes[] = "f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool";

struct CompareOptions {
  std::string a;
  std::string b;
  std::string dtype;
  std::string shape;
};

// A whole file, mapped: a gigabyte is no reason to read it into memory.
class MappedFile {
 public:
  ~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  absl::Status Open(const std::string& path) {
    // O_NONBLOCK: a fifo is refused below; without it, its opening waits for a writer for ever.
    const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat info {};
    if (!fd.valid() || fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, path);
    if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(fmt::format("{} is not a regular file", path));
    if (info.st_size == 0) return absl::OkStatus();
    void* at = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (at == MAP_FAILED) return ErrnoStatus(errno, path);
    bytes_ = {static_cast<const std::byte*>(at), static_cast<size_t>(info.st_size)};
    return absl::OkStatus();
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

// `4x8`, or nothing for a flat array.
absl::StatusOr<std::vector<uint64_t>> ParseShape(std::string_view text) {
  std::vector<uint64_t> shape;
  const std::string_view all = text;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('x'));
    uint64_t extent = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), extent);
    if (error != std::errc() || end != part.data() + part.size()) {
      return absl::InvalidArgumentError(fmt::format("--shape {}: not extents joined by 'x', like 4x8", all));
    }
    shape.push_back(extent);
    if (part.size() == text.size()) break;
    text.remove_prefix(part.size() + 1);
    if (text.empty()) return absl::InvalidArgumentError(fmt::format("--shape {}: ends in 'x'", all));
  }
  return shape;
}

std::string Joined(const std::vector<uint64_t>& index) {
  std::string text;
  for (const uint64_t at : index) text += fmt::format("{}{}", text.empty() ? "" : ",", at);
  return text;
}

std::vector<std::string> Row(std::string_view what, const compare::ElementDifference& d) {
  const bool no_distance = d.ulp == compare::kNoDistance;
  return {std::string(what),
          fmt::format("{}", d.index),
          Joined(d.multi_index),
          d.expected_hex,
          d.actual_hex,
          d.expected,
          d.actual,
          no_distance ? "-" : fmt::format("{}", d.ulp)};
}

nlohmann::json DifferenceJson(const compare::ElementDifference& d) {
  const nlohmann::json ulp = d.ulp == compare::kNoDistance ? nlohmann::json() : nlohmann::json(d.ulp);
  return {{"index", d.index},
          {"multi_index", d.multi_index},
          {"a_hex", d.expected_hex},
          {"b_hex", d.actual_hex},
          {"a", d.expected},
          {"b", d.actual},
          {"ulp", ulp}};
}

nlohmann::json ComparisonJson(const compare::Comparison& c) {
  nlohmann::json json = {{"equal", c.equal},          {"elements", c.elements},
                         {"different", c.different},  {"bytes_a", c.expected_bytes},
                         {"bytes_b", c.actual_bytes}, {"max_ulp", c.max_ulp},
                         {"nan_bits", c.nan_bits},    {"nan_one_side", c.nan_one_side},
                         {"zero_sign", c.zero_sign},  {"worst", nlohmann::json::array()}};
  if (c.first.has_value()) json["first"] = DifferenceJson(*c.first);
  for (const compare::ElementDifference& worst : c.worst) json["worst"].push_back(DifferenceJson(worst));
  return json;
}

void Show(Session& session, const compare::Comparison& c) {
  if (session.json()) return session.Show({{"comparison", {}, ComparisonJson(c)}});
  if (c.equal) return session.Say(fmt::format("equal: {} elements, {} bytes", c.elements, c.expected_bytes));
  if (c.expected_bytes != c.actual_bytes) {
    return session.Say(fmt::format("different lengths: {} and {} bytes", c.expected_bytes, c.actual_bytes));
  }
  session.Say(
      fmt::format("{} of {} elements differ ({:.4f} %), max ULP {}, NaN with other bits {}, NaN on one side {}, "
                  "sign of zero {}",
                  c.different, c.elements, 100.0 * static_cast<double>(c.different) / static_cast<double>(c.elements),
                  c.max_ulp, c.nan_bits, c.nan_one_side, c.zero_sign));
  reports::Table table{{"", "INDEX", "AT", "A HEX", "B HEX", "A", "B", "ULP"}, {Row("first", *c.first)}};
  for (const compare::ElementDifference& worst : c.worst) table.rows.push_back(Row("worst", worst));
  session.Show({{"comparison", table, {}}});
}

void Run(Session& session, const CompareOptions& options) {
  const std::optional<compare::DType> dtype = compare::DTypeByName(options.dtype);
  if (!dtype.has_value())
    return session.Fail(kExitUsage, fmt::format("--dtype {}: unknown; it can be {}", options.dtype, kDTypes));
  absl::StatusOr<std::vector<uint64_t>> shape = ParseShape(options.shape);
  if (!shape.ok()) return session.Fail(kExitUsage, std::string(shape.status().message()));
  MappedFile a;
  MappedFile b;
  for (const absl::Status& status : {a.Open(options.a), b.Open(options.b)}) {
    if (!status.ok()) return session.FailLocal(status);
  }
  uint64_t needed = compare::InfoOf(*dtype).bytes;
  bool fits = true;
  for (const uint64_t extent : *shape) fits = !__builtin_mul_overflow(needed, extent, &needed) && fits;
  if (!fits) return session.Fail(kExitUsage, fmt::format("--shape {}: more bytes than there can be", options.shape));
  if (!shape->empty() && needed != a.bytes().size()) {
    return session.Fail(kExitData, fmt::format("{} has {} bytes, the shape {} of {} needs {}", options.a,
                                               a.bytes().size(), options.shape, options.dtype, needed));
  }
  if (a.bytes().size() % compare::InfoOf(*dtype).bytes != 0) {
    return session.Fail(
        kExitData, fmt::format("{} has {} bytes, no whole number of {}", options.a, a.bytes().size(), options.dtype));
  }
  const compare::Comparison comparison = compare::Compare(a.bytes(), b.bytes(), *dtype, *shape);
  Show(session, comparison);
  session.Exit(comparison.equal ? kExitPass : kExitVerdictFail);
}

}  // namespace

void AddCompare(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("compare", "Compare two raw little-endian files bit for bit; exit status 1 when they differ");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("A", options->a, "Expected")->required();
  command->add_option("B", options->b, "Actual")->required();
  command->add_option("--dtype", options->dtype, kDTypes)->required();
  command->add_option("--shape", options->shape, "Extents joined by x, like 4x8 (default: flat)");
  command->callback([&session, options] { Run(session, *options); });
}

}  // namespace pyptox::ctl
