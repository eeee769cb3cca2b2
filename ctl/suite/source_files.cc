#include "ctl/suite/source_files.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>

#include "base/file_io.h"
#include "base/relative_path.h"
#include "base/sha256.h"

namespace pyptox::ctl {
namespace {

// Files below a suite's folder at most, whether declared or not: a suite in the wrong folder shall not walk a whole
// disk.
constexpr size_t kMaxFiles = 100'000;

// Names below `folder`, files and links, sorted.
absl::Status Walk(const std::string& folder, const std::string& below, std::vector<std::string>* names) {
  const std::string path = below.empty() ? folder : fmt::format("{}/{}", folder, below);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), &closedir);
  if (directory == nullptr) return ErrnoStatus(errno, path);
  while (const dirent* entry = readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || name == ".git") continue;
    const std::string relative = below.empty() ? name : fmt::format("{}/{}", below, name);
    struct stat info {};
    if (lstat(fmt::format("{}/{}", folder, relative).c_str(), &info) != 0) {
      if (errno == ENOENT) continue;  // gone since it was listed
      return ErrnoStatus(errno, relative);
    }
    if (S_ISDIR(info.st_mode)) {
      if (absl::Status status = Walk(folder, relative, names); !status.ok()) return status;
    } else {
      names->push_back(relative);
    }
    if (names->size() > kMaxFiles) {
      return absl::ResourceExhaustedError(fmt::format("{} has more than {} files", folder, kMaxFiles));
    }
  }
  return absl::OkStatus();
}

FileStamp StampOf(const struct stat& info) {
  const auto ns = [](const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; };
  return {info.st_ino, info.st_size, ns(info.st_mtim), ns(info.st_ctim)};
}

// Hashes one file and adds it.
absl::Status Add(const std::string& path, const std::string& name, SourceFiles* sources) {
  if (absl::Status status = CheckRelativePath(name); !status.ok()) return status;
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return ErrnoStatus(errno, name);
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(fmt::format("{} is not a regular file", name));
  absl::StatusOr<Digest> digest = Sha256OfFile(path);
  if (!digest.ok()) return digest.status();
  const std::map<std::string, FileStamp> stamp = {{path, StampOf(info)}};
  if (absl::Status status = CheckUnchanged(stamp); !status.ok()) return status;
  v1::FileEntry& entry = *sources->tree.add_files();
  entry.set_name(name);
  entry.set_executable((info.st_mode & S_IXUSR) != 0);
  entry.set_size(static_cast<uint64_t>(info.st_size));
  entry.set_sha256(digest->Hex());
  sources->paths[entry.sha256()] = path;
  sources->stamps.insert(*stamp.begin());
  return absl::OkStatus();
}

}  // namespace

SourceFiles CollectSources(const std::string& folder, const v1::Suite& suite) {
  SourceFiles sources;
  std::vector<std::string> names;
  if (absl::Status status = Walk(folder, "", &names); !status.ok()) {
    sources.faults.emplace_back("sources", std::string(status.message()));
    return sources;
  }
  std::sort(names.begin(), names.end());
  std::set<std::string> wanted;
  for (int i = 0; i < suite.sources_size(); ++i) {
    bool any = false;
    for (const std::string& name : names) {
      if (!GlobMatches(suite.sources(i), name)) continue;
      any = true;
      wanted.insert(name);
    }
    // A glob that leaves the folder has its own fault.
    if (!any && CheckRelativePath(suite.sources(i)).ok()) {
      sources.faults.emplace_back(fmt::format("sources[{}]", i), fmt::format("no file matches '{}'", suite.sources(i)));
    }
  }
  if (std::binary_search(names.begin(), names.end(), suite.golden_lock())) wanted.insert(suite.golden_lock());
  for (const std::string& name : wanted) {
    const absl::Status status = Add(fmt::format("{}/{}", folder, name), name, &sources);
    if (!status.ok()) sources.faults.emplace_back("sources", std::string(status.message()));
  }
  return sources;
}

absl::Status CheckUnchanged(const std::map<std::string, FileStamp>& stamps) {
  for (const auto& [path, stamp] : stamps) {
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0 || StampOf(info) != stamp) {
      return absl::AbortedError(fmt::format("{} changed while it was read; try again when it rests", path));
    }
  }
  return absl::OkStatus();
}

}  // namespace pyptox::ctl
