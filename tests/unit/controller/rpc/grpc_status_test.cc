#include "controller/rpc/grpc_status.h"

#include <string>

#include "gtest/gtest.h"

namespace pyptox::controller {
namespace {

TEST(GrpcStatus, KeepsCodeAndText) {
  const grpc::Status status = ToGrpcStatus(absl::DataLossError("blob ab"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(status.error_message(), "blob ab");
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
}

TEST(GrpcStatus, CutsALongTextAtALine) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "lanes[0]: fault\n";
  const std::string cut = ToGrpcStatus(absl::InvalidArgumentError(text)).error_message();
  EXPECT_LE(cut.size(), kMaxStatusTextBytes);
  const size_t note = cut.find("\n... and ");
  ASSERT_NE(note, std::string::npos);
  EXPECT_EQ((note + 1) % 16, 0u) << "cut in the middle of a line";
  EXPECT_EQ(cut.substr(note), "\n... and " + std::to_string(16000 - note) + " bytes more");
}

TEST(GrpcStatus, CountsBytesAsTheyTravel) {
  // Each of these takes nine bytes on the wire.
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "\xe8\xa1\x8c";
  const std::string cut = ToGrpcStatus(absl::InvalidArgumentError(text)).error_message();
  const std::string kept = cut.substr(0, cut.find('\n'));
  EXPECT_EQ(kept.size() % 3, 0u);
  EXPECT_LE(kept.size() * 3, kMaxStatusTextBytes);
  EXPECT_GT(kept.size() * 3, kMaxStatusTextBytes - 100);
}

}  // namespace
}  // namespace pyptox::controller
