// Whole files in and out, durable and atomic. All paths in errors are the ones given.
#ifndef PYPTOX_BASE_FILE_IO_H_
#define PYPTOX_BASE_FILE_IO_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace pyptox {

// Status of an errno: NOT_FOUND for ENOENT, PERMISSION_DENIED for EACCES and EPERM, RESOURCE_EXHAUSTED for ENOSPC,
// EDQUOT and EFBIG, ALREADY_EXISTS for EEXIST, else INTERNAL; text is `WHAT: strerror`.
absl::Status ErrnoStatus(int error, std::string_view what);

// Reads a regular file of at most `max_bytes`; OUT_OF_RANGE above that, FAILED_PRECONDITION for a fifo, folder, device.
absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t max_bytes);

// Writes to a temporary name beside `path`, fsyncs, renames, fsyncs the folder. On error nothing is left and an
// existing file is as it was.
absl::Status WriteFileAtomically(const std::string& path, std::string_view data, int mode = 0600);

// Writes all of `data` to `fd`, over short writes and EINTR.
absl::Status WriteAll(int fd, std::string_view data);

// Makes the folder and its parents, each new one with `mode`. An existing folder is fine.
absl::Status MakeFolders(const std::string& path, int mode = 0700);

// Removes a tree without following links. A missing one is fine. Makes folders writable first where it must.
absl::Status RemoveTree(const std::string& path);

// Bytes free to this user on the file system of `path`.
absl::StatusOr<uint64_t> FreeBytes(const std::string& path);

}  // namespace pyptox

#endif  // PYPTOX_BASE_FILE_IO_H_
