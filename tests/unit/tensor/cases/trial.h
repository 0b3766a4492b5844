// One call of a kernel, on any device, held to its reference. Its operands are random, in one piece of
// memory, with gaps between them; the kernel gets a copy of that piece in its device's memory. What the
// reference names must be there afterwards, and every other byte must be as it was. Then the CPU does the
// same: a kernel's bits are the same everywhere, or differ by no more than its case says.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <span>
#include <tuple>
#include <vector>

#include "tensor/buffer.h"
#include "tensor/dispatch/operands.h"
#include "tensor/fixtures.h"
#include "tensor/reference/reference.h"

namespace atl::test {

/// Differences between devices, per unit of 1 + |result|: sums in another order, and functions that two
/// libraries round differently.
inline constexpr double kSums = sizeof(Real) == 8 ? 1e-10 : 1e-4;
inline constexpr double kFunctions = sizeof(Real) == 8 ? 1e-12 : 1e-5;
/// With halves among the operands: where a sum may round to the neighbouring half, in sums of rounded values,
/// and in norms of such.
inline constexpr double kHalf = 0x1p-7, kHalves = 0x1p-5, kNormsOfHalves = 0x1p-3;

/// Quarters, of which sums of products are exact in any order and however they are rounded: a result has no
/// bits but one's.
enum class Operands { kAny, kQuarters };

class Trial {
 public:
  /// Operands of a seed are the same every time; odd seeds have some in halves.
  Trial(Context& ctx, unsigned seed, Operands operands = Operands::kAny);

  // ---- operands, with random contents; a gap of its own before each

  /// Rows begin anywhere that a row may, with gaps between them.
  MatrixView matrix(Index rows, Index cols, double low = -1, double high = 1);
  /// A matrix of values; every second seed stores some of them in halves.
  MatrixView values(Index rows, Index cols, double low = -1, double high = 1);
  /// From here on matrices have the same layout, and values one storage, as in a layer; or nearly all.
  void alike() { alike_ = true; }
  void mostly_alike() { alike_ = draw() % 4 != 0; }
  MatrixView contiguous(Index rows, Index cols, double low = -1, double high = 1) {
    return {reals(rows * cols, low, high), rows, cols, cols};
  }
  Real* reals(Index count, double low = -1, double high = 1);
  double* doubles(Index count, double low = -1, double high = 1);
  template <class T>
  std::span<T> copy(const std::vector<T>& values) {
    T* const data = take<T>(Index(values.size()));
    std::copy(values.begin(), values.end(), data);
    return {data, values.size()};
  }
  /// Some numbers below n, ascending.
  std::span<const VertexId> some_rows(Index n);
  std::span<const VertexId> ids(Index n) { return copy(random_ids(unsigned(draws_()), n)); }
  CsrView csr(const TestGraph& g);
  BitView bits(const BitMatrix& from);
  bool toss() { return draws_() % 2 == 0; }
  unsigned draw() { return unsigned(draws_()); }
  /// A dropout for all rows, or for some.
  Dropout dropout(Index rows);
  /// Any epilogue that may follow a product; of quarters one that rounds nothing.
  Epilogue epilogue(Index rows, Index cols);
  /// y (rows, cols) as the epilogue's apply leaves it: what it has dropped is 0.
  MatrixView finished_values(const Epilogue& e, Index rows, Index cols);

  // ---- the comparison

  /// What follows may differ from the CPU's results by so much per unit of 1 + |result|. Else it has the same
  /// bits, and the CPU's has those of its baseline at every level.
  void may_differ(double of_reals, double with_halves) { differs_ = in_halves_ ? with_halves : of_reals; }
  void may_differ(double by) { may_differ(by, by); }

  template <class... Formal, class... Given>
  void expect(void (*kernel)(Context&, Formal...), void (*reference)(reference::Expected&, Formal...),
              const Given&... given) {
    std::tuple<std::decay_t<Formal>...> there{std::decay_t<Formal>(given)...}, here = there;
    reference::Expected expected;
    std::apply([&](auto&... each) { reference(expected, each...); }, here);
    upload();
    const auto move = [&](auto*& data, Index) { data = there_of(data); };
    std::apply([&](auto&... each) { (each_operand(each, move), ...), kernel(ctx_, each...); }, there);
    compare(expected);
    compare_with_cpu(expected,
                     [&](Context& cpu) { std::apply([&](auto&... each) { kernel(cpu, each...); }, here); });
  }

 private:
  static constexpr std::size_t kBytes = std::size_t(8) << 20, kGap = 64;

  /// Room for `count` elements behind a gap.
  template <class T>
  T* take(Index count) {
    return reinterpret_cast<T*>(take_bytes(std::size_t(count) * sizeof(T)));
  }
  std::byte* take_bytes(std::size_t bytes);
  template <class T>
  T* there_of(T* data) {
    const auto* const at = reinterpret_cast<const std::byte*>(data);
    if (at < here_.data() || at >= here_.data() + kBytes) return data;
    return const_cast<T*>(reinterpret_cast<const T*>(there_.data() + (at - here_.data())));
  }
  double number(double low, double high);
  void upload();
  void compare(const reference::Expected& expected);
  /// `kernel` leaves its results in here_.
  void compare_with_cpu(const reference::Expected& expected, const std::function<void(Context&)>& kernel);

  Context& ctx_;
  bool in_halves_, in_quarters_, alike_ = false;
  double differs_ = 0;
  std::mt19937_64 draws_;
  Buffer<std::byte> here_, there_;
  std::vector<std::byte> got_;
  std::size_t used_ = 0;
};

}  // namespace atl::test
