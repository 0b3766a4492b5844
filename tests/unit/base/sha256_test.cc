// The standard's own examples (FIPS 180-4, "abc" and the empty message), streaming, and files.
#include "base/sha256.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"

namespace atl {
namespace {

TEST(Sha256, MatchesTheStandardsExamples) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, PiecesGiveTheWhole) {
  Sha256 hash;
  for (char c : std::string("abc")) hash.update(&c, 1);
  EXPECT_EQ(hash.hex(), sha256_hex("abc"));
}

TEST(Sha256, ReadsFilesLargerThanOnePiece) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "sha256_test_file";
  const std::string text(3 << 20, 'x');
  std::ofstream(path) << text;
  EXPECT_EQ(sha256_of_file(path), sha256_hex(text));
  std::filesystem::remove(path);
  EXPECT_THROW(sha256_of_file(path), Error);
}

}  // namespace
}  // namespace atl
