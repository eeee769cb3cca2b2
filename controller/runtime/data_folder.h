// The controller's folder on disk. Exactly one controller uses it at a time.
#ifndef PYPTOX_CONTROLLER_RUNTIME_DATA_FOLDER_H_
#define PYPTOX_CONTROLLER_RUNTIME_DATA_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace pyptox::controller {

// Owns the lock on `DIR/lock` as long as it lives; the kernel frees it with the process, however that ends.
class DataFolder {
 public:
  // Makes the folder (0700) if it is missing. UNAVAILABLE when another process holds it.
  static absl::StatusOr<DataFolder> Open(const std::string& path);

  std::string database() const { return path_ + "/pyptox.db"; }
  std::string blobs() const { return path_ + "/blobs"; }
  std::string logs() const { return path_ + "/logs"; }
  std::string socket() const { return path_ + "/controller.sock"; }

 private:
  DataFolder(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  UniqueFd lock_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RUNTIME_DATA_FOLDER_H_
