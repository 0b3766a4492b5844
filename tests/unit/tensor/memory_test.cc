// Memory by device: what matrices and workspaces get, and the error of a build without GPUs.
#include "base/memory.h"
#include "tensor/fixtures.h"

namespace atl {
namespace {
using namespace test;

TEST(Memory, MatricesKeepItWhereItSuffices) {
  Matrix m(10, 20);
  EXPECT_EQ(m.device(), Device::kCpu);
  const Real* first = m.data();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
  m.resize(5, 7);
  EXPECT_EQ(m.data(), first);
  EXPECT_EQ(m.bytes(), 35 * Index(sizeof(Real)));
  EXPECT_GE(m.held_bytes(), 200 * Index(sizeof(Real)));
  m.resize(3000, 1000);
  EXPECT_EQ(m.rows(), 3000);
  EXPECT_GE(m.held_bytes(), m.bytes());
}

TEST(Memory, ClonesAreCopiesAndZeroIsZero) {
  const Matrix m = random_matrix(1, 7, 9);
  Matrix copy = m.clone();
  expect_same_bits(copy, m);
  copy.zero();
  expect_near(
      copy, [](Index, Index) { return 0.0; }, 0);
  EXPECT_NE(m.at(3, 3), 0);
}

TEST(Memory, ADeviceThatThisBuildHasNotIsRefusedByName) {
  const auto message_of = [](auto&& what) {
    try {
      what();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message_of([] { Matrix(2, 2, Device::kCuda); }).find("device cuda"), std::string::npos);
  static constexpr ScratchKey kRows;
  Workspace workspace(Device::kCuda);
  EXPECT_NE(message_of([&] { workspace.matrix(kRows, 2, 2); }).find("device cuda"), std::string::npos);
}

/// A plan of any job has to fit anywhere.
TEST(Memory, OfADryRunIsSizedAndNotHeld) {
  const auto before = process_memory().resident_bytes;
  Matrix huge(Index(1) << 20, Index(1) << 18, Device::kDry);  // 1 TiB, or 2
  huge.zero();
  const Matrix copy = huge.clone();
  EXPECT_EQ(copy.device(), Device::kDry);
  EXPECT_GE(copy.held_bytes(), huge.bytes());
  EXPECT_EQ(copy.at(77777, 99), 0);
  EXPECT_LT(process_memory().resident_bytes - before, 1 << 20);
  for (const Index columns : {3, 5000, 3'000'000})
    EXPECT_EQ(Matrix(1, columns, Device::kDry).held_bytes(), Matrix(1, columns).held_bytes());
  EXPECT_THROW(Matrix(Index(1) << 30, Index(1) << 20, Device::kDry), Error) << "beyond all addresses";
}

TEST(Memory, AWorkspaceGivesTheSameBufferAgain) {
  static constexpr ScratchKey kOne, kOther;
  Workspace workspace;
  const Real* first = workspace.matrix(kOne, 10, 10).data;
  EXPECT_NE(workspace.matrix(kOther, 10, 10).data, first);
  EXPECT_EQ(workspace.matrix(kOne, 5, 10).data, first);
  const Index bytes = workspace.bytes();
  const std::span<double> sums = workspace.doubles(kOne, 10);
  EXPECT_EQ(sums.size(), 10U);
  EXPECT_EQ(static_cast<void*>(sums.data()), static_cast<const void*>(first));
  EXPECT_EQ(workspace.bytes(), bytes);
}

}  // namespace
}  // namespace atl
