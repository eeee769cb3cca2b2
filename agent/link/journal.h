// The agent's memory on disk: what it was told, what it finished, what it may forget. One file, appended and fsynced
// before anything is promised; a tail that a crash tore is cut off when it is opened again.
//
// On disk: frames of `length` (4 bytes, little-endian), `check` (first 8 bytes of the payload's SHA-256), payload. One
// frame is one Append, so an Append is there as a whole or not at all. Not thread safe.
#ifndef PYPTOX_AGENT_LINK_JOURNAL_H_
#define PYPTOX_AGENT_LINK_JOURNAL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/core/journal_entry.h"
#include "base/unique_fd.h"

namespace pyptox::agent {

class Journal {
 public:
  // Opens the file, or makes it with a new id, and makes one higher epoch durable. A file that is damaged anywhere but
  // in its torn tail is set aside as `PATH.damaged` and a new journal is made: another id tells the controller that
  // what this agent knew is lost. Errors: I/O.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(const std::string& path);

  // 32 hex digits.
  const std::string& id() const { return id_; }
  uint64_t epoch() const { return epoch_; }
  // What was read, once.
  std::vector<JournalEntry> TakeEntries() { return std::move(entries_); }

  // Durable when OK. After an error the journal takes nothing more: what the disk holds is not known any more.
  absl::Status Append(const std::vector<JournalEntry>& entries);
  // Replaces the whole file by these entries, atomically.
  absl::Status Rewrite(const std::vector<JournalEntry>& entries);
  // Bytes in the file.
  uint64_t size() const { return size_; }

 private:
  explicit Journal(std::string path) : path_(std::move(path)) {}
  // False when the contents are damaged.
  bool Load(std::string_view text, size_t* good);
  bool LoadFrame(std::string_view payload);
  absl::Status Create();
  absl::Status OpenFile();
  absl::Status AppendFrame(std::string_view payload);
  std::string Header() const;

  const std::string path_;
  UniqueFd fd_;
  std::string id_;
  uint64_t epoch_ = 0;
  uint64_t size_ = 0;
  std::vector<JournalEntry> entries_;
  absl::Status broken_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_LINK_JOURNAL_H_
