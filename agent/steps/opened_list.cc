#include "agent/steps/opened_list.h"

#include <algorithm>

namespace pyptox::agent {
namespace {

// Where operating systems and their packages keep files that programs read.
constexpr std::string_view kSystem[] = {"/usr/",    "/lib/",       "/lib32/", "/lib64/",
                                        "/libx32/", "/bin/",       "/sbin/",  "/etc/",
                                        "/opt/",    "/nix/store/", "/snap/",  "/run/systemd/resolve/"};

}  // namespace

void OpenedList::AddToolOf(std::string_view program) {
  if (program.starts_with(attempt_)) return;
  std::string_view folder = program.substr(0, program.rfind('/'));
  if (folder.ends_with("/bin")) folder.remove_suffix(4);
  if (!folder.empty()) AddToolFolder(std::string(folder));
}

void OpenedList::AppendNew(const std::vector<OpenedInput>& inputs, v1::StepResult* step) {
  for (const OpenedInput& input : inputs) {
    if (!seen_.emplace(input.path, input.sha256, input.executed).second) continue;
    v1::OpenedFile* file = step->add_opened();
    const bool inside = input.path.starts_with(attempt_);
    file->set_path(inside ? input.path.substr(attempt_.size()) : input.path);
    file->set_sha256(input.sha256);
    file->set_size(input.size);
    file->set_executed(input.executed);
    file->set_outside(!inside && IsOutside(input.path));
  }
}

bool OpenedList::HasOpened(std::string_view name) const {
  const std::string path = attempt_ + std::string(name);
  const auto first = seen_.lower_bound({path, "", false});
  return first != seen_.end() && std::get<0>(*first) == path;
}

bool OpenedList::IsOutside(std::string_view path) const {
  const auto contains = [&](std::string_view folder) { return path.starts_with(folder); };
  return std::none_of(std::begin(kSystem), std::end(kSystem), contains) &&
         std::none_of(tools_.begin(), tools_.end(), contains);
}

}  // namespace pyptox::agent
