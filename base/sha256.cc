#include "base/sha256.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/file_io.h"
#include "base/unique_fd.h"

namespace pyptox {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string Digest::Hex() const {
  std::string hex;
  hex.reserve(64);
  for (uint8_t byte : bytes) {
    hex.push_back(kHexDigits[byte >> 4]);
    hex.push_back(kHexDigits[byte & 15]);
  }
  return hex;
}

absl::StatusOr<Digest> Digest::FromHex(std::string_view hex) {
  if (hex.size() != 64) return absl::InvalidArgumentError("a SHA-256 has 64 hex digits");
  Digest digest;
  for (size_t i = 0; i < 32; ++i) {
    const int high = HexValue(hex[2 * i]);
    const int low = HexValue(hex[2 * i + 1]);
    if (high < 0 || low < 0) return absl::InvalidArgumentError("a SHA-256 is written in lower-case hex");
    digest.bytes[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return digest;
}

struct Sha256::Context {
  EVP_MD_CTX* md = nullptr;
  ~Context() { EVP_MD_CTX_free(md); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  context_->md = EVP_MD_CTX_new();
  EVP_DigestInit_ex(context_->md, EVP_sha256(), nullptr);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::Update(std::span<const std::byte> data) { EVP_DigestUpdate(context_->md, data.data(), data.size()); }
void Sha256::Update(std::string_view data) { EVP_DigestUpdate(context_->md, data.data(), data.size()); }

Digest Sha256::Finish() {
  Digest digest;
  unsigned int length = 0;
  EVP_DigestFinal_ex(context_->md, digest.bytes.data(), &length);
  return digest;
}

Digest Sha256Of(std::string_view data) { return Sha256Of(std::as_bytes(std::span(data.data(), data.size()))); }

Digest Sha256Of(std::span<const std::byte> data) {
  Sha256 hash;
  hash.Update(data);
  return hash.Finish();
}

absl::StatusOr<Digest> Sha256OfFile(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  Sha256 hash;
  std::vector<char> buffer(1 << 18);
  while (true) {
    const ssize_t n = read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, path);
    if (n == 0) return hash.Finish();
    hash.Update(std::string_view(buffer.data(), static_cast<size_t>(n)));
  }
}

}  // namespace pyptox
