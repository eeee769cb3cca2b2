// SHA-256 (FIPS 180-4) by OpenSSL: the name of every artifact, record and input.
#ifndef PYPTOX_BASE_SHA256_H_
#define PYPTOX_BASE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace pyptox {

// A SHA-256 value. Ordered bytewise.
struct Digest {
  std::array<uint8_t, 32> bytes{};

  // 64 lower-case hex digits.
  std::string Hex() const;
  // Takes exactly 64 lower-case hex digits; INVALID_ARGUMENT otherwise.
  static absl::StatusOr<Digest> FromHex(std::string_view hex);

  friend auto operator<=>(const Digest&, const Digest&) = default;
};

// Hashes a stream. Not thread safe; one use: Update*, then Finish once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Update(std::span<const std::byte> data);
  void Update(std::string_view data);
  Digest Finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

Digest Sha256Of(std::string_view data);
Digest Sha256Of(std::span<const std::byte> data);

// Reads the whole file at `path`; NOT_FOUND or the errno's status, naming the path.
absl::StatusOr<Digest> Sha256OfFile(const std::string& path);

}  // namespace pyptox

#endif  // PYPTOX_BASE_SHA256_H_
