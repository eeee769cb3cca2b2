#include "base/controller_address.h"

#include <string>

#include "gtest/gtest.h"

namespace pyptox {
namespace {

TEST(ControllerAddress, TakesSocketsAndPorts) {
  for (const char* address : {"unix:/run/c.sock", "unix:c.sock", "unix:///run/c.sock", "127.0.0.1:1", "localhost:65535",
                              "[::1]:7070", "[fe80::1%eth0]:7070", "build-host_1.example:7070"}) {
    EXPECT_EQ(CheckControllerAddress(address), absl::OkStatus()) << address;
  }
}

TEST(ControllerAddress, RefusesWhatGrpcWouldTakeForSomethingElse) {
  for (const std::string& address :
       {std::string(), std::string("foo"), std::string("unix:"), std::string("unix:/a%20b"),
        std::string("unix:/a\0b", 9), std::string(":7070"), std::string("127.0.0.1"), std::string("127.0.0.1:"),
        std::string("127.0.0.1:0"), std::string("127.0.0.1:99999"), std::string("127.0.0.1:x"),
        std::string("127.0.0.1:080"), std::string("::1:7070"), std::string("[]:7070"), std::string("http://x:80"),
        std::string("dns:///127.0.0.1:1"), std::string("a\nb:1"), std::string("a b:1")}) {
    EXPECT_EQ(CheckControllerAddress(address).code(), absl::StatusCode::kInvalidArgument) << address;
  }
  EXPECT_EQ(CheckControllerAddress("h:99999").message(),
            "controller's address 'h:99999': neither unix:PATH nor HOST:PORT with a port of 1 to 65535");
}

}  // namespace
}  // namespace pyptox
