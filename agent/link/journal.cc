#include "agent/link/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/file_io.h"
#include "base/sha256.h"

namespace pyptox::agent {
namespace {

constexpr uint64_t kMaxJournalBytes = uint64_t{1} << 30;
constexpr size_t kFrameHead = 12;
constexpr size_t kCheckBytes = 8;
// Space that is kept for results when somebody else fills the disk.
constexpr off_t kReserveBytes = 16 << 20;
// First byte of an entry: its kind. JournalEntry's index for entries, and these two of the journal's own.
constexpr uint8_t kIdKind = 255;
constexpr uint8_t kEpochKind = 254;

void PutNumber(uint64_t value, size_t bytes, std::string* out) {
  for (size_t i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t GetNumber(std::string_view text) {
  uint64_t value = 0;
  for (size_t i = text.size(); i > 0; --i) value = value << 8 | static_cast<uint8_t>(text[i - 1]);
  return value;
}

std::string_view Check(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), kCheckBytes};
}

std::string Frame(std::string_view payload) {
  std::string frame;
  PutNumber(payload.size(), 4, &frame);
  frame += Check(Sha256Of(payload));
  frame += payload;
  return frame;
}

void PutEntry(uint8_t kind, std::string_view body, std::string* payload) {
  payload->push_back(static_cast<char>(kind));
  PutNumber(body.size(), 4, payload);
  *payload += body;
}

std::string NumberBody(uint64_t value) {
  std::string body;
  PutNumber(value, 8, &body);
  return body;
}

struct BodyOf {
  std::string operator()(const Accepted& entry) const { return entry.assign.SerializeAsString(); }
  std::string operator()(const Finished& entry) const { return entry.finished.SerializeAsString(); }
  std::string operator()(const Forgotten& entry) const { return NumberBody(entry.attempt_id); }
  std::string operator()(const TokenSeen& entry) const { return entry.token.SerializeAsString(); }
};

std::string Payload(const std::vector<JournalEntry>& entries) {
  std::string payload;
  for (const JournalEntry& entry : entries) {
    PutEntry(static_cast<uint8_t>(entry.index()), std::visit(BodyOf{}, entry), &payload);
  }
  return payload;
}

bool Parse(google::protobuf::Message* message, std::string_view body) {
  return message->ParseFromArray(body.data(), static_cast<int>(body.size()));
}

std::optional<JournalEntry> ParseEntry(uint8_t kind, std::string_view body) {
  switch (kind) {
    case 0: {
      Accepted entry;
      if (Parse(&entry.assign, body)) return entry;
      break;
    }
    case 1: {
      Finished entry;
      if (Parse(&entry.finished, body)) return entry;
      break;
    }
    case 2:
      if (body.size() == 8) return Forgotten{GetNumber(body)};
      break;
    case 3: {
      TokenSeen entry;
      if (Parse(&entry.token, body)) return entry;
      break;
    }
  }
  return std::nullopt;
}

absl::StatusOr<std::string> NewId() {
  std::array<uint8_t, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return ErrnoStatus(errno, "getrandom");
  std::string id;
  for (const uint8_t byte : bytes) id += fmt::format("{:02x}", byte);
  return id;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(const std::string& path) {
  std::unique_ptr<Journal> journal(new Journal(path));
  absl::StatusOr<std::string> text = ReadFile(path, kMaxJournalBytes);
  size_t good = 0;
  if (text.ok() && !journal->Load(*text, &good)) {
    if (rename(path.c_str(), (path + ".damaged").c_str()) != 0) return ErrnoStatus(errno, path);
    journal.reset(new Journal(path));
    text = absl::NotFoundError("set aside");
  }
  absl::Status status = text.status();
  if (absl::IsNotFound(status)) {
    status = journal->Create();
  } else if (status.ok()) {
    status = journal->OpenFile();
    if (status.ok() && ftruncate(journal->fd_.get(), static_cast<off_t>(good)) != 0) status = ErrnoStatus(errno, path);
    journal->size_ = good;
  }
  if (!status.ok()) return status;
  ++journal->epoch_;
  std::string payload;
  PutEntry(kEpochKind, NumberBody(journal->epoch_), &payload);
  status = journal->AppendFrame(payload);
  if (!status.ok()) return status;
  return journal;
}

bool Journal::Load(std::string_view text, size_t* good) {
  *good = 0;
  while (*good < text.size()) {
    const std::string_view rest = text.substr(*good);
    if (rest.find_first_not_of('\0') == std::string_view::npos) break;  // space that the file system gave, not filled
    if (rest.size() < kFrameHead) break;
    const uint64_t length = GetNumber(rest.substr(0, 4));
    if (kFrameHead + length > rest.size()) break;
    const std::string_view payload = rest.substr(kFrameHead, length);
    if (Check(Sha256Of(payload)) != rest.substr(4, kCheckBytes)) {
      // The last frame may be torn; one with more behind it was whole once.
      if (kFrameHead + length < rest.size()) return false;
      break;
    }
    if (!LoadFrame(payload)) return false;
    *good += kFrameHead + length;
  }
  // Without its first frame it is no journal: it was torn while it was made, or is something else.
  return *good > 0;
}

bool Journal::LoadFrame(std::string_view payload) {
  while (!payload.empty()) {
    if (payload.size() < 5) return false;
    const auto kind = static_cast<uint8_t>(payload[0]);
    const uint64_t length = GetNumber(payload.substr(1, 4));
    if (payload.size() - 5 < length) return false;
    const std::string_view body = payload.substr(5, length);
    payload.remove_prefix(5 + length);
    if (id_.empty() != (kind == kIdKind)) return false;  // the id, once, before all else
    if (kind == kIdKind) {
      id_ = std::string(body);
    } else if (kind == kEpochKind) {
      epoch_ = GetNumber(body);
    } else {
      std::optional<JournalEntry> entry = ParseEntry(kind, body);
      if (!entry.has_value()) return false;
      entries_.push_back(*std::move(entry));
    }
  }
  return true;
}

std::string Journal::Header() const {
  std::string payload;
  PutEntry(kIdKind, id_, &payload);
  PutEntry(kEpochKind, NumberBody(epoch_), &payload);
  return payload;
}

absl::Status Journal::Create() {
  absl::StatusOr<std::string> id = NewId();
  if (!id.ok()) return id.status();
  id_ = *std::move(id);
  return Rewrite({});
}

absl::Status Journal::OpenFile() {
  fd_.Reset(open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  return fd_.valid() ? absl::OkStatus() : ErrnoStatus(errno, path_);
}

absl::Status Journal::Append(const std::vector<JournalEntry>& entries) {
  return entries.empty() ? absl::OkStatus() : AppendFrame(Payload(entries));
}

absl::Status Journal::AppendFrame(std::string_view payload) {
  if (!broken_.ok()) return broken_;
  const std::string frame = Frame(payload);
  absl::Status status = WriteAll(fd_.get(), frame);
  if (status.ok() && fdatasync(fd_.get()) != 0) status = ErrnoStatus(errno, path_);
  if (!status.ok()) {
    broken_ = status;
    return status;
  }
  size_ += frame.size();
  // Best effort: some file systems have no such thing.
  fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size_), kReserveBytes);
  return absl::OkStatus();
}

absl::Status Journal::Rewrite(const std::vector<JournalEntry>& entries) {
  std::string text = Frame(Header());
  if (!entries.empty()) text += Frame(Payload(entries));
  absl::Status status = WriteFileAtomically(path_, text);
  if (status.ok()) status = OpenFile();
  if (!status.ok()) {
    broken_ = status;
    return status;
  }
  size_ = text.size();
  return absl::OkStatus();
}

}  // namespace pyptox::agent
