#include "controller/rpc/listen_address.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pyptox::controller {
namespace {

using testing::HasSubstr;

TEST(ListenAddress, TakesUnixAndLoopback) {
  for (const char* text : {"unix:/tmp/a.sock", "unix:a", "127.0.0.1:0", "127.9.8.7:65535", "localhost:80", "[::1]:1"}) {
    const auto address = ParseListenAddress(text);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(address->ToString(), text);
  }
  EXPECT_EQ(ParseListenAddress("unix:/tmp/a.sock")->unix_path, "/tmp/a.sock");
  EXPECT_EQ(ParseListenAddress("127.0.0.1:81")->port, 81);
}

TEST(ListenAddress, RefusesWhatOthersCanReach) {
  for (const char* text :
       {"0.0.0.0:1", "192.0.2.1:1", "[::]:1", "*:1", ":1", "example.org:1", "128.0.0.1:1", "127.0.0.1.example.org:1"}) {
    const auto address = ParseListenAddress(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_THAT(std::string(address.status().message()), HasSubstr("only the loopback interface"));
  }
}

TEST(ListenAddress, RefusesNonsense) {
  for (const std::string& text :
       {std::string(), std::string("unix:"), std::string("127.0.0.1"), std::string("127.0.0.1:"),
        std::string("127.0.0.1:65536"), std::string("127.0.0.1:-1"), std::string("unix:a%20b"),
        "unix:" + std::string(108, 'x')}) {
    EXPECT_EQ(ParseListenAddress(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_TRUE(ParseListenAddress("unix:" + std::string(107, 'x')).ok());
}

}  // namespace
}  // namespace pyptox::controller
