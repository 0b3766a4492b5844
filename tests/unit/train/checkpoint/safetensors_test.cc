#include "train/checkpoint/safetensors.h"

#include <gmock/gmock.h>

#include <limits>

#include "base/error.h"
#include "temporary_folder.h"

namespace atl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A file as another program would write it: this header, this data.
std::string foreign_file(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) length[i] = char(header.size() >> (8 * i));
  return length + header + data;
}

TEST(Safetensors, GivesBackWhatWasWritten) {
  TemporaryFolder folder;
  const std::vector<float> weights{1.5f, -2, 3, 4, 5, std::numeric_limits<float>::denorm_min()};
  const std::vector<double> moments{0.1, 0.2};
  const std::vector<std::int64_t> steps{-7};
  const std::vector<std::uint8_t> mask{1, 0, 255};
  const std::vector<TensorView> tensors{
      tensor_view("mask", {3}, mask.data()), tensor_view("layer 0/weight", {2, 3}, weights.data()),
      tensor_view("moments", {2}, moments.data()), tensor_view("step", {}, steps.data()),
      tensor_view("none", {0, 4}, weights.data())};
  write_safetensors(folder / "m.safetensors", tensors, {{"model", "gcn “ü”"}});

  const SafetensorsFile file = SafetensorsFile::read(folder / "m.safetensors");
  EXPECT_EQ(file.metadata().at("model"), "gcn “ü”");
  EXPECT_EQ(file.tensors().size(), 5u);
  std::vector<float> read(6);
  file.copy_to("layer 0/weight", {2, 3}, read.data());
  EXPECT_EQ(read, weights);
  std::vector<double> read_moments(2);
  file.copy_to("moments", {2}, read_moments.data());
  EXPECT_EQ(read_moments, moments);
  std::int64_t step = 0;
  file.copy_to("step", {}, &step);
  EXPECT_EQ(step, -7);
  std::vector<std::uint8_t> read_mask(3);
  file.copy_to("mask", {3}, read_mask.data());
  EXPECT_EQ(read_mask, mask);
  EXPECT_THAT(file.find("none")->shape, ElementsAre(0, 4));
  EXPECT_EQ(file.find("bias"), nullptr);
}

TEST(Safetensors, SameContentSameBytesWhateverTheOrder) {
  TemporaryFolder folder;
  const std::vector<float> a{1, 2}, b{3};
  const auto first =
      write_safetensors(folder / "1", std::vector{tensor_view("a", {2}, a.data())}, {{"x", "1"}, {"y", "2"}});
  const auto second =
      write_safetensors(folder / "2", std::vector{tensor_view("a", {2}, a.data())}, {{"y", "2"}, {"x", "1"}});
  EXPECT_EQ(first, second);
  EXPECT_EQ(read_bytes(folder / "1"), read_bytes(folder / "2"));
}

TEST(Safetensors, AnEmptyFileOfTensorsIsAFile) {
  TemporaryFolder folder;
  write_safetensors(folder / "m", {}, {});
  EXPECT_TRUE(SafetensorsFile::read(folder / "m").tensors().empty());
}

TEST(Safetensors, DataBeginsAtAMultipleOfEight) {
  TemporaryFolder folder;
  const float one = 1;
  for (const std::string name : {"a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg", "abcdefgh"}) {
    write_safetensors(folder / "m", std::vector{tensor_view(name, {1}, &one)}, {});
    EXPECT_EQ((read_bytes(folder / "m").size() - 4) % 8, 0u) << name;
  }
}

TEST(Safetensors, ReadsAnUnsealedFileOfAnotherProgram) {
  TemporaryFolder folder;
  write_bytes(folder / "m",
              foreign_file(R"({"w":{"shape":[2],"dtype":"U8","data_offsets":[0,2]}}   )", "ab"));
  const SafetensorsFile file = SafetensorsFile::read(folder / "m");
  EXPECT_EQ(file.seal(), "");
  std::vector<std::uint8_t> w(2);
  file.copy_to("w", {2}, w.data());
  EXPECT_THAT(w, ElementsAre('a', 'b'));
}

TEST(Safetensors, EveryTruncationIsFound) {
  TemporaryFolder folder;
  const std::vector<float> w{1, 2, 3};
  write_safetensors(folder / "m", std::vector{tensor_view("w", {3}, w.data())}, {{"k", "v"}});
  const std::string bytes = read_bytes(folder / "m");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    write_bytes(folder / "cut", bytes.substr(0, length));
    EXPECT_THROW(SafetensorsFile::read(folder / "cut"), Error) << length << " of " << bytes.size();
  }
}

TEST(Safetensors, EveryFlippedBitOfTheDataIsFound) {
  TemporaryFolder folder;
  const std::vector<float> w{1, 2, 3};
  write_safetensors(folder / "m", std::vector{tensor_view("w", {3}, w.data())}, {});
  const std::string bytes = read_bytes(folder / "m");
  for (std::size_t bit = (bytes.size() - 12) * 8; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = char(flipped[bit / 8] ^ (1 << (bit % 8)));
    write_bytes(folder / "flipped", flipped);
    EXPECT_THAT(error_of([&] { SafetensorsFile::read(folder / "flipped"); }), HasSubstr("checksum")) << bit;
  }
}

TEST(Safetensors, AFlippedBitOfTheHeaderNeverChangesWhatIsRead) {
  TemporaryFolder folder;
  const std::vector<float> w{1, 2, 3};
  const std::string seal =
      write_safetensors(folder / "m", std::vector{tensor_view("w", {3}, w.data())}, {{"k", "v"}});
  const std::string bytes = read_bytes(folder / "m");
  for (std::size_t bit = 0; bit < (bytes.size() - 12) * 8; bit += 3) {
    std::string flipped = bytes;
    flipped[bit / 8] = char(flipped[bit / 8] ^ (1 << (bit % 8)));
    write_bytes(folder / "flipped", flipped);
    try {
      const SafetensorsFile file = SafetensorsFile::read(folder / "flipped");
      if (file.seal() != seal) continue;  // the seal itself was hit: whoever knows it sees that
      EXPECT_EQ(file.metadata().at("k"), "v") << bit;
      EXPECT_THAT(file.find("w")->shape, ElementsAre(3)) << bit;
    } catch (const Error&) {
    }
  }
}

struct BadFile {
  const char* what;
  std::string header, data;
};

TEST(Safetensors, WhatIsWrongIsSaidWithTheFileName) {
  const std::vector<BadFile> files{
      {"dtype \"BF16\"", R"({"w":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}})", "ab"},
      {"shape [-1]", R"({"w":{"dtype":"U8","shape":[-1],"data_offsets":[0,2]}})", "ab"},
      {"shape 2", R"({"w":{"dtype":"U8","shape":2,"data_offsets":[0,2]}})", "ab"},
      {"shape [4611686018427387904,4]",
       R"({"w":{"dtype":"U8","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", ""},
      {"needs 2 bytes", R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[0,1]}})", "a"},
      {"within the file's 2", R"({"w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", "ab"},
      {"data_offsets [2,0,1]", R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[2,0,1]}})", "ab"},
      {"overlaps",
       R"({"v":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"w":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       "abc"},
      {"hole",
       R"({"v":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"w":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
       "abc"},
      {"1 bytes after", R"({"v":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "ab"},
      {"shape", R"({"w":{"dtype":"U8","data_offsets":[0,2]}})", "ab"},
      {"not a JSON object", "[1]", ""},
      {"must be string", R"({"__metadata__":{"k":1}})", ""},
      {"parse error", "{", ""},
  };
  TemporaryFolder folder;
  for (const BadFile& bad : files) {
    write_bytes(folder / "bad.safetensors", foreign_file(bad.header, bad.data));
    const std::string message = error_of([&] { SafetensorsFile::read(folder / "bad.safetensors"); });
    EXPECT_THAT(message, HasSubstr((folder / "bad.safetensors").string())) << bad.header;
    EXPECT_THAT(message, HasSubstr(bad.what)) << bad.header;
  }
  EXPECT_THAT(error_of([&] { SafetensorsFile::read(folder / "none"); }),
              HasSubstr("cannot be read; check the path"));
}

TEST(Safetensors, AnotherShapeOrTypeIsRefusedWithBoth) {
  TemporaryFolder folder;
  const std::vector<float> w(6);
  write_safetensors(folder / "m", std::vector{tensor_view("w", {2, 3}, w.data())}, {});
  const SafetensorsFile file = SafetensorsFile::read(folder / "m");
  std::vector<float> out(6);
  std::vector<double> wide(6);
  EXPECT_THAT(error_of([&] {
                file.copy_to("w", {3, 2}, out.data());
              }),
              HasSubstr("F32 [2,3], but this run's is F32 [3,2]"));
  EXPECT_THAT(error_of([&] {
                file.copy_to("w", {2, 3}, wide.data());
              }),
              HasSubstr("this run's is F64 [2,3]"));
  EXPECT_THAT(error_of([&] { file.copy_to("v", {2, 3}, out.data()); }), HasSubstr("no tensor v"));
}

}  // namespace
}  // namespace atl
