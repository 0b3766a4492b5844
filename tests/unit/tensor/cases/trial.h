// One call of a kernel, on any device, held to its reference. Its operands are random, in one piece of
// memory, with gaps between them; the kernel gets a copy of that piece in its device's memory. What the
// reference names must be there afterwards, and every other byte must be as it was.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <tuple>
#include <vector>

#include "tensor/buffer.h"
#include "tensor/dispatch/operands.h"
#include "tensor/fixtures.h"
#include "tensor/reference/reference.h"

namespace atl::test {

class Trial {
 public:
  /// Operands of a seed are the same every time; odd seeds have some in halves.
  Trial(Context& ctx, unsigned seed);

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
  /// Any epilogue that may follow a product.
  Epilogue epilogue(Index rows, Index cols);
  /// y (rows, cols) as the epilogue's apply leaves it: what it has dropped is 0.
  MatrixView finished_values(const Epilogue& e, Index rows, Index cols);

  // ---- the comparison

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
  void upload();
  void compare(const reference::Expected& expected);

  Context& ctx_;
  bool in_halves_, alike_ = false;
  std::mt19937_64 draws_;
  Buffer<std::byte> here_, there_;
  std::size_t used_ = 0;
};

}  // namespace atl::test
