// SHA-256 of files, remembered by (device, inode, size, mtime, ctime). Thread safe; one for the whole agent.
//
// A file that was changed within the last two seconds is hashed but not remembered: another change could fall into the
// same tick of the file system's clock.
#ifndef PYPTOX_AGENT_EXEC_FILE_DIGESTS_H_
#define PYPTOX_AGENT_EXEC_FILE_DIGESTS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "base/sha256.h"

namespace pyptox::agent {

class FileDigests {
 public:
  struct Value {
    Digest digest;
    uint64_t size = 0;
  };

  // Of the regular file at `path`, which may be a /proc/PID/fd/N link. FAILED_PRECONDITION for another kind of file;
  // nothing but a regular file is ever opened.
  absl::StatusOr<Value> Of(const std::string& path);

 private:
  using Key = std::tuple<uint64_t, uint64_t, uint64_t, int64_t, int64_t, int64_t, int64_t>;
  std::mutex mutex_;
  std::map<Key, Digest> known_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_FILE_DIGESTS_H_
