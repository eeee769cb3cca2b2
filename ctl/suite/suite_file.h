// A suite as it lies on this machine: the file, the case files that it names, its declared sources.
#ifndef PYPTOX_CTL_SUITE_SUITE_FILE_H_
#define PYPTOX_CTL_SUITE_SUITE_FILE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/text_message.h"
#include "ctl/suite/source_files.h"
#include "pyptox/v1/artifact.pb.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox::ctl {

struct SuiteFile {
  // Everything that is wrong, with file and line; empty: the rest is whole.
  std::vector<TextFault> faults;
  // Golden files that are not pinned as they are now. Cases that compare with them can't PASS, but they may run.
  std::vector<TextFault> pin_faults;
  // The suite's folder, absolute.
  std::string folder;
  // The suite file and its case files, relative to the folder.
  std::vector<std::string> files;
  // With the cases of `cases_from` in `cases`, and `cases_from` as written.
  v1::Suite suite;
  // The declared sources and the golden lock, sorted.
  v1::Tree tree;
  // Local path of each digest in `tree`.
  std::map<std::string, std::string> paths;
  // For CheckUnchanged, by local path.
  std::map<std::string, FileStamp> stamps;

  // Null for a name that is not in `tree`.
  const v1::FileEntry* Find(const std::string& name) const;
};

// Reads and checks everything that can be checked without a controller. Links are not followed.
SuiteFile LoadSuite(const std::string& path);

// Rewrites the golden lock so that it holds the digest of every golden file as it is now. Needs a suite without other
// faults.
absl::Status PinGoldens(const SuiteFile& loaded);

// Golden files that cases and compares name, sorted, once each.
std::vector<std::string> GoldenFiles(const v1::Suite& suite);

// One fault a line.
std::string Lines(const std::vector<TextFault>& faults);

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_SUITE_SUITE_FILE_H_
