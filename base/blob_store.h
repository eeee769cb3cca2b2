// Files named by their SHA-256 under one folder: `ab/cdef...`. Used by the controller and as an agent's cache.
//
// Thread safe; several processes may share a folder. A blob appears by rename only after its bytes are verified and
// durable. Reading verifies again: a blob whose bytes went bad is moved to `bad/` and reported, never served.
#ifndef PYPTOX_BASE_BLOB_STORE_H_
#define PYPTOX_BASE_BLOB_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sha256.h"
#include "base/time_types.h"
#include "base/unique_fd.h"

namespace pyptox {

class BlobStore {
 public:
  // Takes bytes in order and ends in Commit; without it the destructor leaves nothing behind. After an error of the
  // file system, or after Commit, every call is FAILED_PRECONDITION.
  class Writer {
   public:
    ~Writer();
    absl::Status Append(std::string_view chunk);
    // DATA_LOSS when digest or size is not what was announced.
    absl::Status Commit();

   private:
    friend class BlobStore;
    Writer() = default;
    void Abandon();
    absl::Status Ended() const;
    BlobStore* store_ = nullptr;
    Digest expected_;
    uint64_t expected_size_ = 0;
    uint64_t size_ = 0;
    Sha256 hash_;
    std::string temporary_;
    UniqueFd fd_;
  };

  // Makes the folder (0700) if it is missing and removes temporaries of dead writers.
  static absl::StatusOr<std::unique_ptr<BlobStore>> Open(const std::string& folder);

  // Also renews the blob's age for Collect.
  bool Contains(const Digest& digest) const;
  absl::StatusOr<std::unique_ptr<Writer>> Write(const Digest& expected, uint64_t size);
  absl::StatusOr<Digest> Put(std::string_view data);
  // Copies a regular file in. FAILED_PRECONDITION when it changes while it is read.
  absl::StatusOr<Digest> PutFile(const std::string& path, uint64_t* size);
  // Calls `chunk` with pieces of at most 1 MiB from `offset` on; the last piece is handed over only after the whole
  // blob's digest was verified. NOT_FOUND, DATA_LOSS, OUT_OF_RANGE for an offset past the end,
  // or the first error that `chunk` returns.
  absl::Status Read(const Digest& digest, uint64_t offset, const std::function<absl::Status(std::string_view)>& chunk);
  // Copies a verified blob to a new file with `mode`.
  absl::Status CopyTo(const Digest& digest, int folder_fd, const std::string& relative_path, int mode);
  // Removes every blob that `keep` does not name and that is older than `min_age` by the file system. Returns how many.
  absl::StatusOr<uint64_t> Collect(const std::set<Digest>& keep, Duration min_age);

 private:
  explicit BlobStore(std::string folder);
  std::string PathOf(const Digest& digest) const;
  std::string folder_;
};

}  // namespace pyptox

#endif  // PYPTOX_BASE_BLOB_STORE_H_
