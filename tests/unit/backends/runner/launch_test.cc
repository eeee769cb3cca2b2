#include "backends/runner/launch.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "backends/runner/judge.h"
#include "base/sha256.h"
#include "tests/support/temp_folder.h"

namespace pyptox::runner {
namespace {

using compare::DType;
using testing::ElementsAre;
using testing::HasSubstr;

std::string KernelFolder() {
  const char* const folder = std::getenv("PYPTOX_KERNEL_DIR");
  return folder == nullptr ? "." : folder;
}

Manifest ForKernel(const char* symbol) {
  Manifest manifest;
  manifest.module = KernelFolder() + "/sample_kernels.so";
  manifest.symbol = symbol;
  manifest.repeat = 3;
  return manifest;
}

BufferSpec Dense(const char* name, Role role, DType dtype, uint64_t count) {
  BufferSpec spec;
  spec.name = name;
  spec.role = role;
  spec.dtype = dtype;
  spec.shape = {count};
  spec.strides = {1};
  spec.bytes = count * compare::InfoOf(dtype).bytes;
  return spec;
}

template <typename T>
std::string Raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <typename T>
std::vector<T> Values(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// x = 0, 1, 2, ... as u32 bits is no number, so the case generates zeros and expects ones.
Manifest AddOne(const TempFolder& folder, uint64_t count) {
  Manifest manifest = ForKernel("add_one");
  manifest.buffers = {Dense("x", Role::kIn, DType::kF32, count), Dense("y", Role::kOut, DType::kF32, count)};
  manifest.buffers[0].generate = GenerateRule{};
  folder.Write("golden", Raw(std::vector<float>(count, 1.0f)));
  manifest.buffers[1].golden = FileRegion{folder / "golden", 0, false};
  return manifest;
}

TEST(Launch, APassLeavesEverythingAPersonAsksFor) {
  TempFolder folder;
  const Manifest manifest = AddOne(folder, 19);
  const absl::StatusOr<LaunchOutcome> outcome = Launch(manifest);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(Judge(manifest, outcome->seen).outcome, "PASS") << Judge(manifest, outcome->seen).reason;
  EXPECT_EQ(outcome->seen.launches.size(), 3u);
  ASSERT_EQ(outcome->seen.inputs.size(), 1u);
  EXPECT_EQ(outcome->seen.inputs[0].sha256, Sha256Of(std::string_view(std::string(76, '\0'))).Hex());
  EXPECT_EQ(outcome->seen.inputs[0].sha256_after, outcome->seen.inputs[0].sha256);
  EXPECT_EQ(outcome->seen.outputs[0].sha256, Sha256OfFile(folder / "golden")->Hex());
  // The child is gone: nothing is left to wait for.
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Launch, NoElementsAreLegal) {
  TempFolder folder;
  const Manifest manifest = AddOne(folder, 0);
  const absl::StatusOr<LaunchOutcome> outcome = Launch(manifest);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(Judge(manifest, outcome->seen).outcome, "PASS") << Judge(manifest, outcome->seen).reason;
  EXPECT_EQ(outcome->seen.outputs[0].bytes, 0u);
}

TEST(Launch, GapsOfAStridedOutputStayUnwritten) {
  TempFolder folder;
  Manifest manifest = AddOne(folder, 2);
  BufferSpec& y = manifest.buffers[1];
  y.strides = {3};
  y.bytes = 16;
  std::string golden(16, '\xa5');
  golden.replace(0, 4, Raw<float>({1.0f}));
  golden.replace(12, 4, Raw<float>({1.0f}));
  folder.Write("golden", golden);
  EXPECT_EQ(Judge(manifest, Launch(manifest)->seen).outcome, "PASS");
  // A golden that has something else in a gap shows that the gap is looked at; no multi-index is made up.
  golden[6] = 0;
  folder.Write("golden", golden);
  const absl::StatusOr<LaunchOutcome> outcome = Launch(manifest);
  EXPECT_EQ(Judge(manifest, outcome->seen).outcome, "MISMATCH");
  EXPECT_EQ(outcome->seen.outputs[0].comparison->first->index, 1u);
  EXPECT_THAT(outcome->seen.outputs[0].comparison->first->multi_index, testing::IsEmpty());
}

// What an output holds before a launch is no result, also where the golden has just these bytes.
TEST(Launch, AnUnwrittenOutputIsSeenWhateverItsGolden) {
  TempFolder folder;
  Manifest manifest = AddOne(folder, 4);
  manifest.module = KernelFolder() + "/faulty_kernels.so";
  manifest.symbol = "write_nothing";
  for (const std::vector<uint64_t>& strides : std::vector<std::vector<uint64_t>>{{2, 1}, {8, 3}, {1, 2}, {0, 1}}) {
    BufferSpec& y = manifest.buffers[1];
    y.shape = {2, 2};
    y.strides = strides;
    y.bytes = 4 * (strides[0] + strides[1] + 1);
    for (const char pattern : {'\xa5', '\x5a'}) {
      folder.Write("golden", std::string(y.bytes, pattern));
      EXPECT_EQ(Judge(manifest, Launch(manifest)->seen).outcome, "MISMATCH") << strides[0] << ", " << strides[1];
    }
  }
  folder.Write("golden", std::string(manifest.buffers[1].bytes, '\xa5'));
  EXPECT_EQ(Judge(manifest, Launch(manifest)->seen).reason, "byte 0 of output y was not written");
}

TEST(Launch, AWrittenOutputMayHoldTheBytesOfAnUnwrittenOne) {
  TempFolder folder;
  Manifest manifest = ForKernel("spread_sum");
  manifest.buffers = {Dense("x", Role::kIn, DType::kU32, 1), Dense("y", Role::kOut, DType::kU32, 2)};
  folder.Write("x", Raw<uint32_t>({0xa5a5a5a5}));
  manifest.buffers[0].file = FileRegion{folder / "x", 0, false};
  folder.Write("golden", Raw<uint32_t>({0xa5a5a5a5, 0xa5a5a5a6}));
  manifest.buffers[1].golden = FileRegion{folder / "golden", 0, false};
  EXPECT_EQ(Judge(manifest, Launch(manifest)->seen).outcome, "PASS") << Judge(manifest, Launch(manifest)->seen).reason;
}

TEST(Launch, TheKernelSeesTheLaunchAsDescribed) {
  TempFolder folder;
  Manifest manifest = ForKernel("describe_launch");
  manifest.buffers = {Dense("x", Role::kIn, DType::kBf16, 5), Dense("y", Role::kOut, DType::kU64, 8)};
  manifest.buffers[0].generate = GenerateRule{GenerateKind::kIota};
  manifest.params = {{false, -7, 0}, {true, 0, 2.25}};
  folder.Write("golden", std::string(64, '\0'));
  manifest.buffers[1].golden = FileRegion{folder / "golden", 0, false};
  for (const auto& [align, misalign] : std::vector<std::pair<uint64_t, uint64_t>>{{64, 0}, {64, 1}, {4096, 3}}) {
    manifest.buffers[0].align = align;
    manifest.buffers[0].misalign = misalign;
    const absl::StatusOr<LaunchOutcome> outcome = Launch(manifest);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_EQ(Judge(manifest, outcome->seen).outcome, "MISMATCH");  // The golden is made up.
    // The kernel says where in its page the buffer stands: aligned as asked, and no more.
    EXPECT_THAT(Values<uint64_t>(outcome->outputs[0]), ElementsAre(PYPTOX_KERNEL_ABI, align % 4096 + misalign, 10,
                                                                   PYPTOX_BF16, 1, 2, static_cast<uint64_t>(-7), 9));
  }
}

// 323 inputs and 48 states as 371 regions of one file of 43,200 bytes; 51 outputs, the 48 states among them.
TEST(Launch, ManyBuffersOutOfOnePackedFile) {
  TempFolder folder;
  std::string packed;
  std::string golden;
  Manifest manifest = ForKernel("spread_sum");
  constexpr uint32_t kInputs = 371;
  constexpr uint32_t kStates = 48;
  uint32_t sum = 0;
  for (uint32_t i = kStates; i < kInputs; ++i) sum += 1000 * i;
  for (uint32_t i = 0; i < kInputs; ++i) {
    const uint32_t count = i + 1 < kInputs ? 29 : 70;
    BufferSpec spec = Dense("b", i < kStates ? Role::kInOut : Role::kIn, DType::kU32, count);
    spec.name += std::to_string(i);
    spec.file = FileRegion{folder / "inputs", packed.size(), true};
    std::vector<uint32_t> values(count);
    for (uint32_t j = 0; j < count; ++j) values[j] = 1000 * i + j;
    packed += Raw(values);
    if (i < kStates) {
      spec.golden = FileRegion{folder / "goldens", golden.size(), true};
      for (uint32_t& value : values) value += sum;
      golden += Raw(values);
    }
    manifest.buffers.push_back(std::move(spec));
  }
  for (uint32_t i = 0; i < 3; ++i) {
    BufferSpec spec = Dense("y", Role::kOut, DType::kU32, 7 * i);
    spec.name += std::to_string(i);
    spec.golden = FileRegion{folder / "goldens", golden.size(), true};
    for (uint32_t j = 0; j < 7 * i; ++j) golden += Raw<uint32_t>({sum + j});
    manifest.buffers.push_back(std::move(spec));
  }
  ASSERT_EQ(packed.size(), 43'200u);
  folder.Write("inputs", packed);
  folder.Write("goldens", golden);
  const absl::StatusOr<LaunchOutcome> outcome = Launch(manifest);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(Judge(manifest, outcome->seen).outcome, "PASS") << Judge(manifest, outcome->seen).reason;
  EXPECT_EQ(outcome->seen.inputs.size(), 371u);
  EXPECT_EQ(outcome->seen.outputs.size(), 51u);
  // One bit of one golden: that output alone.
  golden[29 * 4 * 17] ^= 1;
  folder.Write("goldens", golden);
  const absl::StatusOr<LaunchOutcome> flipped = Launch(manifest);
  EXPECT_THAT(Judge(manifest, flipped->seen).reason, HasSubstr("output b17: 1 of 29 elements differ"));
}

// As one big case would: the runner's own work on 64 MiB, twenty times, takes longer than the kernel may.
TEST(Launch, TheLimitIsTheKernelsTimeAlone) {
  Manifest manifest = ForKernel("refuse_index");
  manifest.buffers = {Dense("y", Role::kOut, DType::kU8, 64 << 20)};
  manifest.expect_status = PYPTOX_REFUSED_INDEX;
  manifest.repeat = 20;
  manifest.timeout_ms = 500;
  const absl::StatusOr<LaunchOutcome> outcome = Launch(manifest);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(Judge(manifest, outcome->seen).outcome, "PASS") << Judge(manifest, outcome->seen).reason;
}

TEST(Launch, AnInputThatIsPutBackWasChanged) {
  TempFolder folder;
  Manifest manifest = AddOne(folder, 4);
  manifest.module = KernelFolder() + "/sly_kernels.so";
  manifest.symbol = "toggle_input";
  manifest.repeat = 2;
  const absl::StatusOr<LaunchOutcome> outcome = Launch(manifest);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->seen.inputs[0].sha256_after, outcome->seen.inputs[0].sha256);
  EXPECT_EQ(Judge(manifest, outcome->seen).outcome, "INPUT_CHANGED");
  EXPECT_EQ(Judge(manifest, outcome->seen).reason, "input x was changed by launch 1");
}

TEST(Launch, ACrashIsACrashWhoeverHoldsTheChannel) {
  TempFolder folder;
  Manifest manifest = AddOne(folder, 4);
  manifest.module = KernelFolder() + "/sly_kernels.so";
  manifest.symbol = "crash_beside_a_child";
  manifest.timeout_ms = 500;
  const absl::StatusOr<LaunchOutcome> outcome = Launch(manifest);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(Judge(manifest, outcome->seen).outcome, "CRASH") << Judge(manifest, outcome->seen).reason;
}

// `abs` is there, but in the C library.
TEST(Launch, AKernelOfALibraryBehindTheModuleIsNone) {
  TempFolder folder;
  Manifest manifest = AddOne(folder, 4);
  manifest.module = KernelFolder() + "/sly_kernels.so";
  manifest.symbol = "abs";
  void* const module = dlopen(manifest.module.c_str(), RTLD_NOW);
  ASSERT_NE(module, nullptr);
  EXPECT_NE(dlsym(module, "abs"), nullptr) << "the module does not need the C library: nothing is tested here";
  dlclose(module);
  const absl::StatusOr<LaunchOutcome> outcome = Launch(manifest);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(Judge(manifest, outcome->seen).outcome, "NO_SYMBOL");
  EXPECT_EQ(Judge(manifest, outcome->seen).reason, "abs: the symbol is not defined in the module");
}

TEST(Launch, AModuleWithoutAFolderIsInThisFolder) {
  TempFolder folder;
  Manifest manifest = AddOne(folder, 4);
  std::filesystem::copy_file(manifest.module, folder / "kernels.so");
  folder.Write("libm.so.6", "not an ELF file");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  manifest.module = "kernels.so";
  EXPECT_EQ(Judge(manifest, Launch(manifest)->seen).outcome, "PASS") << Judge(manifest, Launch(manifest)->seen).reason;
  // Not the system's file of that name.
  manifest.module = "libm.so.6";
  const absl::StatusOr<LaunchOutcome> outcome = Launch(manifest);
  std::filesystem::current_path(before);
  EXPECT_EQ(Judge(manifest, outcome->seen).outcome, "NO_MODULE") << Judge(manifest, outcome->seen).reason;
}

TEST(Launch, FilesThatCanNotServe) {
  TempFolder folder;
  const struct {
    uint64_t golden_bytes;
    bool packed;
    uint64_t offset;
    const char* reason;
  } table[] = {{15, false, 0, "golden has 15 bytes, the buffer needs exactly 16"},
               {17, false, 0, "golden has 17 bytes, the buffer needs exactly 16"},
               {32, true, 17, "golden has 32 bytes, the buffer needs 16 at offset 17"}};
  for (const auto& row : table) {
    Manifest manifest = AddOne(folder, 4);
    folder.Write("golden", std::string(row.golden_bytes, '\0'));
    manifest.buffers[1].golden = FileRegion{folder / "golden", row.offset, row.packed};
    const absl::StatusOr<LaunchOutcome> outcome = Launch(manifest);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_EQ(Judge(manifest, outcome->seen).outcome, "BAD_FILE");
    EXPECT_THAT(Judge(manifest, outcome->seen).reason, HasSubstr(row.reason));
    EXPECT_TRUE(outcome->seen.launches.empty());
  }
  Manifest manifest = AddOne(folder, 4);
  manifest.buffers[1].golden->path = folder / "no_golden";
  EXPECT_EQ(Judge(manifest, Launch(manifest)->seen).outcome, "BAD_FILE");
  manifest = AddOne(folder, 4);
  manifest.buffers[0].generate.reset();
  manifest.buffers[0].file = FileRegion{folder / "nowhere", 0, false};
  EXPECT_EQ(Judge(manifest, Launch(manifest)->seen).outcome, "BAD_FILE");
}

}  // namespace
}  // namespace pyptox::runner
