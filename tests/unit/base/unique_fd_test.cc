#include "base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace pyptox {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0 || errno != EBADF; }
int OpenNull() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(UniqueFd, ClosesWhatItOwnsOnce) {
  const int raw = OpenNull();
  {
    UniqueFd fd(raw);
    EXPECT_TRUE(fd.valid());
    UniqueFd other = std::move(fd);
    EXPECT_FALSE(fd.valid());  // NOLINT(bugprone-use-after-move): that is the point
    EXPECT_EQ(other.get(), raw);
    EXPECT_TRUE(IsOpen(raw));
  }
  EXPECT_FALSE(IsOpen(raw));
}

TEST(UniqueFd, ReleaseGivesAwayAndResetReplaces) {
  UniqueFd fd(OpenNull());
  const int raw = fd.Release();
  EXPECT_FALSE(fd.valid());
  EXPECT_TRUE(IsOpen(raw));
  fd.Reset(raw);
  const int second = OpenNull();
  fd.Reset(second);
  EXPECT_FALSE(IsOpen(raw));
  fd = UniqueFd();
  EXPECT_FALSE(IsOpen(second));
  EXPECT_EQ(fd.get(), -1);
}

}  // namespace
}  // namespace pyptox
