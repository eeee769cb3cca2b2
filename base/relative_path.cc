#include "base/relative_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/absl_view.h"
#include "base/file_io.h"
#include "base/utf8.h"

namespace pyptox {
namespace {

constexpr size_t kMaxPart = 255;
constexpr size_t kMaxPath = 4096;

absl::Status Refused(std::string_view path, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("path \"", absl::CHexEscape(AbslView(path.substr(0, 300))), "\" ", AbslView(why)));
}

std::vector<std::string_view> Parts(std::string_view path) {
  std::vector<std::string_view> parts;
  for (absl::string_view part : absl::StrSplit(AbslView(path), '/')) parts.push_back(StdView(part));
  return parts;
}

// C0, DEL and, as UTF-8, C1 (U+0080 to U+009F): what a terminal could act on.
bool HasControlCharacter(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(text[i]))) return true;
    if (text[i] == '\xC2' && i + 1 < text.size() && static_cast<uint8_t>(text[i + 1]) < 0xA0) return true;
  }
  return false;
}

// Matches wildcards in linear space and, since only the last star is ever tried again, at most quadratic time.
// `is_star(i)`: pattern element i matches any run. `match_one(i, j)`: element i matches subject element j.
template <typename IsStar, typename MatchOne>
bool MatchSequence(size_t pattern_size, size_t subject_size, IsStar is_star, MatchOne match_one) {
  size_t p = 0, s = 0;
  size_t star = SIZE_MAX, star_subject = 0;
  while (s < subject_size) {
    if (p < pattern_size && is_star(p)) {
      star = p++;
      star_subject = s;
    } else if (p < pattern_size && match_one(p, s)) {
      ++p;
      ++s;
    } else if (star != SIZE_MAX) {
      p = star + 1;
      s = ++star_subject;
    } else {
      return false;
    }
  }
  while (p < pattern_size && is_star(p)) ++p;
  return p == pattern_size;
}

// The characters of a UTF-8 text; a byte that is no UTF-8 counts as one.
std::vector<std::string_view> Characters(std::string_view text) {
  std::vector<std::string_view> characters;
  for (size_t at = 0; at < text.size();) {
    size_t length = 1;
    while (at + length < text.size() && (static_cast<uint8_t>(text[at + length]) & 0xC0) == 0x80) ++length;
    characters.push_back(text.substr(at, length));
    at += length;
  }
  return characters;
}

bool PartMatches(std::string_view glob, std::string_view part) {
  const std::vector<std::string_view> g = Characters(glob);
  const std::vector<std::string_view> p = Characters(part);
  return MatchSequence(
      g.size(), p.size(), [&](size_t i) { return g[i] == "*"; },
      [&](size_t i, size_t j) { return g[i] == "?" || g[i] == p[j]; });
}

}  // namespace

absl::Status CheckRelativePath(std::string_view path) {
  if (path.empty()) return Refused(path, "is empty");
  if (path.size() > kMaxPath) return Refused(path, "is longer than 4096 bytes");
  if (!IsValidUtf8(path)) return Refused(path, "is not UTF-8");
  if (HasControlCharacter(path)) return Refused(path, "has a control character");
  if (path.front() == '/') return Refused(path, "is absolute");
  for (std::string_view part : Parts(path)) {
    if (part.empty() || part == "." || part == "..") return Refused(path, "has an empty, '.' or '..' part");
    if (part.size() > kMaxPart) return Refused(path, "has a part longer than 255 bytes");
  }
  return absl::OkStatus();
}

absl::Status CheckName(std::string_view name) {
  bool good = !name.empty() && name.size() <= kMaxPart && name.front() != '.' && name.front() != '-';
  for (char c : name)
    good = good && (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-');
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("name \"", absl::CHexEscape(AbslView(name.substr(0, 300))),
                                                 "\" is not 1 to 255 of [A-Za-z0-9._-] without '.' or '-' in front"));
}

bool GlobMatches(std::string_view glob, std::string_view path) {
  const std::vector<std::string_view> g = Parts(glob);
  const std::vector<std::string_view> p = Parts(path);
  return MatchSequence(
      g.size(), p.size(), [&](size_t i) { return g[i] == "**"; },
      [&](size_t i, size_t j) { return PartMatches(g[i], p[j]); });
}

absl::StatusOr<UniqueFd> OpenBeneath(int root_fd, const std::string& path, int flags, int mode) {
  if (absl::Status status = CheckRelativePath(path); !status.ok()) return status;
  const auto fault = [&](int error) -> absl::Status {
    if (error != ELOOP && error != ENOTDIR) return ErrnoStatus(error, path);
    return absl::FailedPreconditionError(absl::StrCat(path, ": a part of it is a symbolic link or no folder"));
  };
  const std::vector<std::string> parts = absl::StrSplit(path, '/');
  UniqueFd folder;
  int at = root_fd;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const char* part = parts[i].c_str();
    if ((flags & O_CREAT) != 0 && mkdirat(at, part, 0700) != 0 && errno != EEXIST) return fault(errno);
    UniqueFd next(openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid()) return fault(errno);
    folder = std::move(next);
    at = folder.get();
  }
  UniqueFd fd(openat(at, parts.back().c_str(), flags | O_NOFOLLOW | O_CLOEXEC, static_cast<mode_t>(mode)));
  if (!fd.valid()) return fault(errno);
  return fd;
}

}  // namespace pyptox
