#include "base/blob_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file_io.h"
#include "base/relative_path.h"

namespace pyptox {
namespace {

constexpr size_t kPiece = 1 << 20;

// Names in a folder that don't start with a dot; none when it can't be read.
std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(folder.c_str()), closedir);
  if (dir == nullptr) return names;
  while (const dirent* entry = readdir(dir.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

// A living writer holds a lock on its temporary file, so one that can be locked is a leftover.
void RemoveLeftovers(const std::string& folder) {
  for (const std::string& name : NamesIn(folder)) {
    const std::string path = absl::StrCat(folder, "/", name);
    UniqueFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd.valid() && flock(fd.get(), LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
  }
}

// Opens and locks a new file in `folder`; a cleaner may take it away between the two, then another one is made.
absl::StatusOr<UniqueFd> MakeTemporary(const std::string& folder, std::string* path) {
  static std::atomic<uint64_t> counter{0};
  while (true) {
    *path = absl::StrCat(folder, "/", getpid(), "-", counter++);
    UniqueFd fd(open(path->c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd.valid() && errno == EEXIST) continue;
    if (!fd.valid()) return ErrnoStatus(errno, *path);
    struct stat info {};
    if (flock(fd.get(), LOCK_EX) != 0 || fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, *path);
    if (info.st_nlink > 0) return fd;
  }
}

// Reads from `fd` until `size` bytes or the end; the number read.
absl::StatusOr<size_t> ReadPiece(int fd, char* buffer, size_t size, const std::string& path) {
  size_t have = 0;
  while (have < size) {
    const ssize_t n = read(fd, buffer + have, size - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, path);
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  return have;
}

int64_t Nanoseconds(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

bool Unchanged(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && Nanoseconds(a.st_mtim) == Nanoseconds(b.st_mtim) &&
         Nanoseconds(a.st_ctim) == Nanoseconds(b.st_ctim);
}

}  // namespace

BlobStore::BlobStore(std::string folder) : folder_(std::move(folder)) {}

absl::StatusOr<std::unique_ptr<BlobStore>> BlobStore::Open(const std::string& folder) {
  for (const char* part : {"/tmp", "/bad"}) {
    if (absl::Status status = MakeFolders(folder + part); !status.ok()) return status;
  }
  RemoveLeftovers(folder + "/tmp");
  return std::unique_ptr<BlobStore>(new BlobStore(folder));
}

std::string BlobStore::PathOf(const Digest& digest) const {
  const std::string hex = digest.Hex();
  return absl::StrCat(folder_, "/", hex.substr(0, 2), "/", hex.substr(2));
}

bool BlobStore::Contains(const Digest& digest) const {
  return utimensat(AT_FDCWD, PathOf(digest).c_str(), nullptr, AT_SYMLINK_NOFOLLOW) == 0;
}

absl::StatusOr<std::unique_ptr<BlobStore::Writer>> BlobStore::Write(const Digest& expected, uint64_t size) {
  std::unique_ptr<Writer> writer(new Writer());
  absl::StatusOr<UniqueFd> fd = MakeTemporary(folder_ + "/tmp", &writer->temporary_);
  if (!fd.ok()) return fd.status();
  writer->store_ = this;
  writer->expected_ = expected;
  writer->expected_size_ = size;
  writer->fd_ = *std::move(fd);
  return writer;
}

BlobStore::Writer::~Writer() { Abandon(); }

void BlobStore::Writer::Abandon() {
  if (fd_.valid()) unlink(temporary_.c_str());
  fd_.Reset();
}

absl::Status BlobStore::Writer::Ended() const {
  return absl::FailedPreconditionError(absl::StrCat("the writer of blob ", expected_.Hex(), " has ended"));
}

absl::Status BlobStore::Writer::Append(std::string_view chunk) {
  if (chunk.size() > expected_size_ - size_) {
    return absl::DataLossError(
        absl::StrCat("blob ", expected_.Hex(), " has more than the announced ", expected_size_, " bytes"));
  }
  if (!fd_.valid()) return Ended();
  if (absl::Status status = WriteAll(fd_.get(), chunk); !status.ok()) {
    // Part of the chunk may be in the file, so it can't be tried again.
    Abandon();
    return status;
  }
  hash_.Update(chunk);
  size_ += chunk.size();
  return absl::OkStatus();
}

absl::Status BlobStore::Writer::Commit() {
  if (!fd_.valid()) return Ended();
  if (size_ != expected_size_) {
    return absl::DataLossError(
        absl::StrCat("blob ", expected_.Hex(), " has ", size_, " bytes, announced were ", expected_size_));
  }
  if (const Digest found = hash_.Finish(); found != expected_) {
    return absl::DataLossError(absl::StrCat("blob ", expected_.Hex(), " has the contents of ", found.Hex()));
  }
  const std::string path = store_->PathOf(expected_);
  const std::string folder = path.substr(0, path.find_last_of('/'));
  if (absl::Status status = MakeFolders(folder); !status.ok()) return status;
  if (fchmod(fd_.get(), 0400) != 0 || fsync(fd_.get()) != 0 || rename(temporary_.c_str(), path.c_str()) != 0) {
    return ErrnoStatus(errno, path);
  }
  fd_.Reset();
  for (const std::string& changed : {folder, store_->folder_}) {
    UniqueFd fd(open(changed.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid() || fsync(fd.get()) != 0) return ErrnoStatus(errno, changed);
  }
  return absl::OkStatus();
}

absl::StatusOr<Digest> BlobStore::Put(std::string_view data) {
  const Digest digest = Sha256Of(data);
  absl::StatusOr<std::unique_ptr<Writer>> writer = Write(digest, data.size());
  if (!writer.ok()) return writer.status();
  if (absl::Status status = (*writer)->Append(data); !status.ok()) return status;
  if (absl::Status status = (*writer)->Commit(); !status.ok()) return status;
  return digest;
}

absl::StatusOr<Digest> BlobStore::PutFile(const std::string& path, uint64_t* size) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat before {};
  if (!fd.valid() || fstat(fd.get(), &before) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(before.st_mode)) return absl::FailedPreconditionError(absl::StrCat(path, ": not a regular file"));
  // The digest is known at the end only: one pass to find it, one to copy, and Commit compares the two.
  absl::StatusOr<Digest> digest = Sha256OfFile(path);
  if (!digest.ok()) return digest.status();
  absl::StatusOr<std::unique_ptr<Writer>> writer = Write(*digest, static_cast<uint64_t>(before.st_size));
  if (!writer.ok()) return writer.status();
  const absl::Status changed = absl::FailedPreconditionError(absl::StrCat(path, ": changed while it was read"));
  std::vector<char> buffer(kPiece);
  while (true) {
    absl::StatusOr<size_t> n = ReadPiece(fd.get(), buffer.data(), buffer.size(), path);
    if (!n.ok()) return n.status();
    if (*n == 0) break;
    absl::Status status = (*writer)->Append({buffer.data(), *n});
    if (!status.ok()) return absl::IsDataLoss(status) ? changed : status;
  }
  struct stat after {};
  if (fstat(fd.get(), &after) != 0) return ErrnoStatus(errno, path);
  if (!Unchanged(before, after)) return changed;
  absl::Status status = (*writer)->Commit();
  if (!status.ok()) return absl::IsDataLoss(status) ? changed : status;
  *size = static_cast<uint64_t>(before.st_size);
  return digest;
}

absl::Status BlobStore::Read(const Digest& digest, uint64_t offset,
                             const std::function<absl::Status(std::string_view)>& chunk) {
  const std::string path = PathOf(digest);
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("blob ", digest.Hex()));
  Sha256 hash;
  uint64_t position = 0;  // of the first byte of `held`
  std::string held, next(kPiece, '\0');
  const auto hand_over = [&]() -> absl::Status {
    const uint64_t end = position + held.size();
    const uint64_t skip = offset > position ? offset - position : 0;
    position = end;
    if (skip >= held.size()) return absl::OkStatus();
    return chunk(std::string_view(held).substr(skip));
  };
  while (true) {
    next.resize(kPiece);
    absl::StatusOr<size_t> n = ReadPiece(fd.get(), next.data(), next.size(), path);
    if (!n.ok()) return n.status();
    if (*n == 0) break;
    next.resize(*n);
    hash.Update(next);
    if (absl::Status status = hand_over(); !status.ok()) return status;
    std::swap(held, next);
  }
  if (hash.Finish() != digest) {
    if (rename(path.c_str(), absl::StrCat(folder_, "/bad/", digest.Hex()).c_str()) != 0 && errno != ENOENT) {
      return ErrnoStatus(errno, path);
    }
    return absl::DataLossError(absl::StrCat("blob ", digest.Hex(), " went bad on disk"));
  }
  if (offset > position + held.size())
    return absl::OutOfRangeError(absl::StrCat("offset ", offset, " of blob ", digest.Hex()));
  return hand_over();
}

absl::Status BlobStore::CopyTo(const Digest& digest, int folder_fd, const std::string& relative_path, int mode) {
  absl::StatusOr<UniqueFd> fd = OpenBeneath(folder_fd, relative_path, O_WRONLY | O_CREAT | O_EXCL);
  if (!fd.ok()) return fd.status();
  absl::Status status = Read(digest, 0, [&](std::string_view data) { return WriteAll(fd->get(), data); });
  if (status.ok() && fchmod(fd->get(), static_cast<mode_t>(mode)) != 0) status = ErrnoStatus(errno, relative_path);
  if (!status.ok()) unlinkat(folder_fd, relative_path.c_str(), 0);
  return status;
}

absl::StatusOr<uint64_t> BlobStore::Collect(const std::set<Digest>& keep, Duration min_age) {
  // "Now" by the file system's own clock, from a file made for it.
  std::string probe;
  absl::StatusOr<UniqueFd> fd = MakeTemporary(folder_ + "/tmp", &probe);
  if (!fd.ok()) return fd.status();
  struct stat now {};
  const bool have_now = fstat(fd->get(), &now) == 0;
  unlink(probe.c_str());
  if (!have_now) return absl::InternalError(absl::StrCat(folder_, ": no file system time"));

  uint64_t removed = 0;
  for (const std::string& prefix : NamesIn(folder_)) {
    if (prefix.size() != 2) continue;  // tmp, bad
    for (const std::string& rest : NamesIn(absl::StrCat(folder_, "/", prefix))) {
      const absl::StatusOr<Digest> digest = Digest::FromHex(prefix + rest);
      if (!digest.ok() || keep.contains(*digest)) continue;
      const std::string path = PathOf(*digest);
      struct stat info {};
      if (stat(path.c_str(), &info) != 0 || Nanoseconds(now.st_mtim) - Nanoseconds(info.st_mtim) < min_age.ns) continue;
      if (unlink(path.c_str()) == 0) ++removed;
    }
  }
  return removed;
}

}  // namespace pyptox
