#include "ctl/suite/source_files.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
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
    if (lstat(fmt::format("{}/{}", folder, relative).c_str(), &info) != 0) return ErrnoStatus(errno, relative);
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

bool SameVersion(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

absl::StatusOr<v1::FileEntry> Hash(const std::string& path, const std::string& name) {
  if (absl::Status status = CheckRelativePath(name); !status.ok()) return status;
  struct stat before {};
  if (lstat(path.c_str(), &before) != 0) return ErrnoStatus(errno, name);
  if (!S_ISREG(before.st_mode)) return absl::InvalidArgumentError(fmt::format("{} is not a regular file", name));
  absl::StatusOr<Digest> digest = Sha256OfFile(path);
  if (!digest.ok()) return digest.status();
  struct stat after {};
  if (lstat(path.c_str(), &after) != 0 || !SameVersion(before, after)) {
    return absl::AbortedError(fmt::format("{} changed while it was read", name));
  }
  v1::FileEntry entry;
  entry.set_name(name);
  entry.set_executable((before.st_mode & S_IXUSR) != 0);
  entry.set_size(static_cast<uint64_t>(before.st_size));
  entry.set_sha256(digest->Hex());
  return entry;
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
    if (!any) {
      sources.faults.emplace_back(fmt::format("sources[{}]", i), fmt::format("no file matches '{}'", suite.sources(i)));
    }
  }
  if (std::binary_search(names.begin(), names.end(), suite.golden_lock())) wanted.insert(suite.golden_lock());
  for (const std::string& name : wanted) {
    const std::string path = fmt::format("{}/{}", folder, name);
    absl::StatusOr<v1::FileEntry> entry = Hash(path, name);
    if (!entry.ok()) {
      sources.faults.emplace_back("sources", std::string(entry.status().message()));
      continue;
    }
    sources.paths[entry->sha256()] = path;
    *sources.tree.add_files() = *std::move(entry);
  }
  return sources;
}

}  // namespace pyptox::ctl
