#include "ctl/client/address.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"

namespace pyptox::ctl {
namespace {

using ::testing::HasSubstr;

// Sets a variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = getenv(name); before != nullptr) before_ = before;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~Variable() { before_.has_value() ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

class AddressTest : public ::testing::Test {
 protected:
  AddressTest() {
    surroundings.config_file = folder / "config.yaml";
    surroundings.data_folder = "/data";
  }
  TempFolder folder;
  Surroundings surroundings;
};

TEST_F(AddressTest, TheFirstThatIsSetWins) {
  EXPECT_EQ(ResolveController("", surroundings)->address, "unix:/data/controller/controller.sock");
  EXPECT_EQ(ResolveController("", surroundings)->source, "default");
  folder.Write("config.yaml", "controller: 127.0.0.1:7000\n");
  EXPECT_EQ(ResolveController("", surroundings)->address, "127.0.0.1:7000");
  EXPECT_EQ(ResolveController("", surroundings)->source, folder / "config.yaml");
  surroundings.controller = "unix:/from/environment";
  EXPECT_EQ(ResolveController("", surroundings)->address, "unix:/from/environment");
  EXPECT_EQ(ResolveController("", surroundings)->source, "PYPTOX_CONTROLLER");
  EXPECT_EQ(ResolveController("h:1", surroundings)->address, "h:1");
  EXPECT_EQ(ResolveController("h:1", surroundings)->source, "--controller");
}

// Wherever it comes from: gRPC would connect to port 34463.
TEST_F(AddressTest, AWrongAddressIsSaidWithItsSource) {
  EXPECT_THAT(std::string(ResolveController("h:99999", surroundings).status().message()),
              HasSubstr("--controller: controller's address 'h:99999'"));
  folder.Write("config.yaml", "controller: 'h:99999'\n");
  EXPECT_THAT(std::string(ResolveController("", surroundings).status().message()),
              HasSubstr("config.yaml: controller's address 'h:99999'"));
  surroundings.controller = "nowhere";
  const absl::Status status = ResolveController("", surroundings).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("PYPTOX_CONTROLLER: controller's address 'nowhere'"));
}

TEST_F(AddressTest, AWrongConfigurationFileIsSaidWhole) {
  folder.Write("config.yaml", "controler: x\nport: 1\n");
  const absl::Status status = ResolveController("", surroundings).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  const std::string text(status.message());
  EXPECT_THAT(text, HasSubstr("config.yaml:1"));
  EXPECT_THAT(text, HasSubstr("config.yaml:2"));
  EXPECT_THAT(text, HasSubstr("controller"));
  EXPECT_TRUE(ResolveController("h:1", surroundings).ok()) << "a flag needs no file";
}

TEST_F(AddressTest, ALongSocketPathMovesToTheRuntimeFolder) {
  surroundings.runtime_folder = folder.path();
  surroundings.data_folder = "/" + std::string(107 - 1 - 27, 'd');
  const std::string fits = surroundings.data_folder + "/controller/controller.sock";
  ASSERT_EQ(fits.size(), 107u);
  EXPECT_EQ(*EmbeddedSocket(surroundings), fits);

  surroundings.data_folder += "d";
  const std::string moved = *EmbeddedSocket(surroundings);
  EXPECT_THAT(moved, ::testing::MatchesRegex(folder / "pyptox-[0-9]+-[0-9a-f]+/controller.sock"));
  EXPECT_LE(moved.size(), 107u);
  EXPECT_EQ(*EmbeddedSocket(surroundings), moved) << "the same for everyone who asks";
  surroundings.data_folder += "e";
  EXPECT_NE(*EmbeddedSocket(surroundings), moved);
}

TEST_F(AddressTest, AFolderThatOthersCanReachIsNotUsed) {
  surroundings.runtime_folder = folder.path();
  surroundings.data_folder = "/" + std::string(200, 'd');
  const std::string socket = *EmbeddedSocket(surroundings);
  const std::string place = socket.substr(0, socket.rfind('/'));
  mkdir(place.c_str(), 0700);
  EXPECT_TRUE(EmbeddedSocket(surroundings).ok());
  chmod(place.c_str(), 0777);
  EXPECT_TRUE(absl::IsPermissionDenied(EmbeddedSocket(surroundings).status()));
  rmdir(place.c_str());
  mkdir((folder / "elsewhere").c_str(), 0700);
  ASSERT_EQ(symlink((folder / "elsewhere").c_str(), place.c_str()), 0);
  EXPECT_TRUE(absl::IsPermissionDenied(EmbeddedSocket(surroundings).status())) << "a link";
  EXPECT_TRUE(absl::IsPermissionDenied(ResolveController("", surroundings).status()));
}

TEST(SurroundingsTest, Folders) {
  const Variable home("HOME", "/h/someone");
  const Variable data("PYPTOX_DATA", nullptr);
  const Variable controller("PYPTOX_CONTROLLER", nullptr);
  {
    const Variable config("XDG_CONFIG_HOME", nullptr);
    const Variable xdg_data("XDG_DATA_HOME", "relative/is/ignored");
    const Variable runtime("XDG_RUNTIME_DIR", nullptr);
    const Surroundings surroundings = ReadSurroundings();
    EXPECT_EQ(surroundings.config_file, "/h/someone/.config/pyptox/config.yaml");
    EXPECT_EQ(surroundings.data_folder, "/h/someone/.local/share/pyptox");
    EXPECT_EQ(surroundings.runtime_folder, "/tmp");
    EXPECT_EQ(surroundings.controller, "");
  }
  {
    const Variable config("XDG_CONFIG_HOME", "/c");
    const Variable xdg_data("XDG_DATA_HOME", "/d");
    const Variable runtime("XDG_RUNTIME_DIR", "/run/user/1");
    EXPECT_EQ(ReadSurroundings().config_file, "/c/pyptox/config.yaml");
    EXPECT_EQ(ReadSurroundings().data_folder, "/d/pyptox");
    EXPECT_EQ(ReadSurroundings().runtime_folder, "/run/user/1");
  }
  const Variable relative("PYPTOX_DATA", "here/../there");
  EXPECT_EQ(ReadSurroundings().data_folder, std::filesystem::current_path().string() + "/there");
}

}  // namespace
}  // namespace pyptox::ctl
