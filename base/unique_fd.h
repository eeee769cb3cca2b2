// Owns a file descriptor and closes it.
#ifndef PYPTOX_BASE_UNIQUE_FD_H_
#define PYPTOX_BASE_UNIQUE_FD_H_

#include <utility>

namespace pyptox {

class UniqueFd {
 public:
  UniqueFd() = default;
  // Takes ownership; -1 is empty.
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) Reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  // Gives ownership away.
  int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd = -1);

 private:
  int fd_ = -1;
};

}  // namespace pyptox

#endif  // PYPTOX_BASE_UNIQUE_FD_H_
