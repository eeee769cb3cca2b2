// A folder for one test that is gone when the test ends.
#ifndef PYPTOX_TESTS_SUPPORT_TEMP_FOLDER_H_
#define PYPTOX_TESTS_SUPPORT_TEMP_FOLDER_H_

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace pyptox {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "pyptox-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  UniqueFd Open() const { return UniqueFd(open(path_.c_str(), O_RDONLY | O_DIRECTORY)); }

  void Write(const std::string& name, const std::string& data) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + name).parent_path());
    std::ofstream(path_ + "/" + name, std::ios::binary) << data;
  }
  std::string Read(const std::string& name) const {
    std::ifstream in(path_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Everything below the folder, relative and sorted.
  std::vector<std::string> List() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      names.push_back(entry.path().string().substr(path_.size() + 1));
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  int Mode(const std::string& name) const {
    struct stat info {};
    return lstat((path_ + "/" + name).c_str(), &info) == 0 ? static_cast<int>(info.st_mode & 07777) : -1;
  }

 private:
  std::string path_;
};

}  // namespace pyptox

#endif  // PYPTOX_TESTS_SUPPORT_TEMP_FOLDER_H_
