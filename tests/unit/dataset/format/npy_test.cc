// Arrays as NumPy writes them.
#include "dataset/format/npy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

/// A .npy file with this header text and these bytes.
std::string npy_file(const std::string& dict, const std::string& data, char version = 1) {
  std::string text = dict + std::string(64 - (10 + dict.size() + 1) % 64, ' ') + "\n";
  std::string file =
      std::string("\x93NUMPY") + version + '\0' + char(text.size() & 0xff) + char(text.size() >> 8);
  if (version > 1) file += std::string(2, '\0');
  return file + text + data;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST(Npy, ReadsEveryDtypeAsAnyOther) {
  const std::string names[] = {"|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"};
  const std::string data[] = {bytes_of<std::int8_t>({1, 2}),  bytes_of<std::uint8_t>({1, 2}),
                              bytes_of<std::int16_t>({1, 2}), bytes_of<std::uint16_t>({1, 2}),
                              bytes_of<std::int32_t>({1, 2}), bytes_of<std::uint32_t>({1, 2}),
                              bytes_of<std::int64_t>({1, 2}), bytes_of<std::uint64_t>({1, 2}),
                              bytes_of<float>({1, 2}),        bytes_of<double>({1, 2})};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    const std::string file =
        npy_file("{'descr': '" + names[i] + "', 'fortran_order': False, 'shape': (2,), }", data[i]);
    const NpyArray array = NpyArray::over(file, "a", nullptr);
    EXPECT_EQ(array.read<std::int32_t>(), (std::vector<std::int32_t>{1, 2})) << names[i];
    EXPECT_EQ(array.read<float>(), (std::vector<float>{1, 2})) << names[i];
  }
}

TEST(Npy, ReadsColumnMajorMatricesAndPythonTwosLongLengths) {
  const std::string file = npy_file("{'descr': '<i4', 'fortran_order': True, 'shape': (2L, 3L), }",
                                    bytes_of<std::int32_t>({1, 4, 2, 5, 3, 6}), 2);
  const NpyArray array = NpyArray::over(file, "a", nullptr);
  EXPECT_EQ(array.read<std::int32_t>(), (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_THROW(array.values<std::int32_t>(), Error);
}

TEST(Npy, RefusesValuesThatDoNotFit) {
  const std::string wide = npy_file("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }",
                                    bytes_of<std::int64_t>({std::int64_t(1) << 40}));
  EXPECT_THROW(NpyArray::over(wide, "a", nullptr).read<std::int32_t>(), Error);
  for (double value : {0.5, 1e30, std::nan(""), -2147483649.0}) {
    const std::string file =
        npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", bytes_of<double>({value}));
    EXPECT_THROW(NpyArray::over(file, "a", nullptr).read<std::int32_t>(), Error) << value;
  }
}

TEST(Npy, WritesWhatItReads) {
  TemporaryFolder folder;
  NpyWriter writer(folder / "a.npy", Dtype::kFloat32, {3});
  const std::vector<float> row{1, 2, 3};
  for (int i = 0; i < 200'000; ++i) writer.append(row);  // more than one buffer
  writer.finish();
  const NpyArray array = NpyArray::open(folder / "a.npy");
  EXPECT_EQ(array.description(), "float32 (200000, 3)");
  EXPECT_EQ(array.values<float>()[599'999], 3.0f);
  array.forget_rows(0, 200'000);
  EXPECT_EQ(array.values<float>()[1], 2.0f);
}

TEST(Half, EveryHalfSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const Half half{std::uint16_t(bits)};
    const float value = to_float(half);
    if (std::isnan(value))
      EXPECT_TRUE((bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0);
    else
      EXPECT_EQ(to_half(value).bits, bits);
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(to_float(to_half(1.0f + 0x1p-11f)), 1.0f);                // tie: to even
  EXPECT_EQ(to_float(to_half(1.0f + 3 * 0x1p-11f)), 1.0f + 0x1p-9f);  // tie: to even, upwards
  EXPECT_EQ(to_float(to_half(1.0f + 0x1.02p-11f)), 1.0f + 0x1p-10f);
  EXPECT_EQ(to_float(to_half(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(to_float(to_half(65520.0f))));
  EXPECT_EQ(to_float(to_half(0x1p-25f)), 0.0f);
  EXPECT_EQ(to_float(to_half(-0x1.8p-25f)), -0x1p-24f);
}

}  // namespace
}  // namespace atl
