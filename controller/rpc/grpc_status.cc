#include "controller/rpc/grpc_status.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/absl_view.h"

namespace pyptox::controller {
namespace {

// Space for the note that something was left out.
constexpr size_t kNoteBytes = 64;

// Bytes of `text` that fit when every byte outside printable ASCII, and '%', takes three.
size_t FittingPrefix(std::string_view text, size_t limit) {
  size_t encoded = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    encoded += (c >= 0x20 && c < 0x7f && c != '%') ? 1 : 3;
    if (encoded > limit) return i;
  }
  return text.size();
}

std::string Shorten(std::string_view text) {
  if (FittingPrefix(text, kMaxStatusTextBytes) == text.size()) return std::string(text);
  size_t end = FittingPrefix(text, kMaxStatusTextBytes - kNoteBytes);
  // Back to the start of a character, so that the text stays UTF-8.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  const size_t line = text.substr(0, end).rfind('\n');
  if (line != std::string_view::npos && line > 0) end = line;
  return absl::StrCat(AbslView(text.substr(0, end)), "\n... and ", text.size() - end, " bytes more");
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.raw_code()), Shorten(StdView(status.message())));
}

}  // namespace pyptox::controller
