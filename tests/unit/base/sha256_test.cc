#include "base/sha256.h"

#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"

namespace pyptox {
namespace {

constexpr char kEmpty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr char kAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

// Vectors of FIPS 180-4 and NIST's examples.
TEST(Sha256, Vectors) {
  EXPECT_EQ(Sha256Of("").Hex(), kEmpty);
  EXPECT_EQ(Sha256Of("abc").Hex(), kAbc);
  EXPECT_EQ(Sha256Of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").Hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Of(std::string(1'000'000, 'a')).Hex(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheSameAsTheWhole) {
  const std::string data(1000, 'x');
  for (size_t cut : {0, 1, 63, 64, 65, 999, 1000}) {
    Sha256 hash;
    hash.Update(data.substr(0, cut));
    Sha256 moved = std::move(hash);
    moved.Update(data.substr(cut));
    EXPECT_EQ(moved.Finish(), Sha256Of(data)) << cut;
  }
}

TEST(Sha256, OfAFile) {
  TempFolder folder;
  folder.Write("a", "abc");
  EXPECT_EQ(Sha256OfFile(folder / "a")->Hex(), kAbc);
  folder.Write("big", std::string((1 << 18) + 1, 'a'));
  EXPECT_EQ(*Sha256OfFile(folder / "big"), Sha256Of(std::string((1 << 18) + 1, 'a')));
  EXPECT_EQ(Sha256OfFile(folder / "none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(Sha256OfFile(folder.path()).ok());
}

TEST(Digest, HexBothWays) {
  EXPECT_EQ(Digest::FromHex(kAbc)->Hex(), kAbc);
  EXPECT_EQ(Digest().Hex(), std::string(64, '0'));
  for (const std::string& bad : {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A'),
                                 std::string(63, 'a') + "g", std::string(63, 'a') + '\0'}) {
    EXPECT_EQ(Digest::FromHex(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(Digest, IsOrderedByItsBytes) {
  EXPECT_LT(*Digest::FromHex("00" + std::string(62, 'f')), *Digest::FromHex("ff" + std::string(62, '0')));
}

}  // namespace
}  // namespace pyptox
