// A GPU's kernel beside its twin on the CPU. Both get the same operands: one piece of host memory, and a copy
// of it on the device. When both are done, the two pieces are compared, including the gaps between operands.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <tuple>
#include <vector>

#include "base/threads.h"
#include "tensor/bfloat16.h"
#include "tensor/buffer.h"
#include "tensor/copies.h"
#include "tensor/cuda/backend.h"
#include "tensor/dispatch/operands.h"
#include "tensor/fixtures.h"

namespace atl::test {

/// A rank on the GPU that the program is linked with: a real or the emulated one.
struct GpuRank {
  GpuRank() {
    install_backend(&cuda::backend()), open = backend().open(0),
                                       ctx = {Device::kCuda, &pool, &workspace, open.stream.get()};
  }
  ~GpuRank() { workspace = Workspace(Device::kCuda); }
  OpenDevice open;
  ThreadPool pool{1};
  Workspace workspace{Device::kCuda};
  Context ctx;
};

/// Tolerances of halves: kHalf where a sum may round to the neighbouring half; kHalves for sums of rounded
/// values; kNormsOfHalves for norms of such.
inline constexpr double kHalf = 0x1p-7, kHalves = 0x1p-5, kNormsOfHalves = 0x1p-3;

class Twins {
 public:
  explicit Twins(unsigned seed) : in_halves_(seed % 2 == 1), draws_(seed), there_(Device::kCuda) {
    here_.assign(kBytes / sizeof(double), 0);
    std::memset(here_.data(), 0x7b, kBytes);
  }

  Context& device() { return gpu_.ctx; }

  // ---- operands, with random contents; a gap of its own before each

  /// Rows begin anywhere that a row may, with gaps between them.
  MatrixView matrix(Index rows, Index cols, double low = -1, double high = 1) {
    const bool aligned = draws_() % 2 == 0 || alike_;
    const Index stride = cols + (aligned ? (4 - cols % 4) % 4 : Index(draws_() % 3));
    Real* const data = reals(rows * stride + 4, low, high) + (aligned ? 0 : draws_() % 4);
    return {data, rows, cols, stride};
  }
  /// A matrix of values; every second seed stores some of them in halves.
  MatrixView values(Index rows, Index cols, double low = -1, double high = 1) {
    if (!in_halves_ || (!alike_ && toss())) return matrix(rows, cols, low, high);
    const bool aligned = alike_ || toss();
    const Index stride = cols + (aligned ? (8 - cols % 8) % 8 : Index(draws_() % 3)),
                count = rows * stride + 8;
    std::uniform_real_distribution<double> uniform(low, high);
    auto* const data = take<Bfloat16>(count, Kind::kBfloat16);
    for (Index i = 0; i < count; ++i) data[i] = to_bfloat16(float(uniform(draws_)));
    return {data + (aligned ? 0 : draws_() % 8), rows, cols, stride};
  }
  /// From here on matrices have the same layout, and values one storage, as in a layer; or nearly all.
  void alike() { alike_ = true; }
  void mostly_alike() { alike_ = draw() % 4 != 0; }
  /// `of_reals`, or `of_halves` where halves were among the operands.
  double within(double of_reals, double of_halves) const { return in_halves_ ? of_halves : of_reals; }
  MatrixView contiguous(Index rows, Index cols, double low = -1, double high = 1) {
    return {reals(rows * cols, low, high), rows, cols, cols};
  }
  Real* reals(Index count, double low = -1, double high = 1) {
    std::uniform_real_distribution<double> uniform(low, high);
    Real* const data = take<Real>(count, Kind::kReal);
    for (Index i = 0; i < count; ++i) data[i] = Real(uniform(draws_));
    return data;
  }
  double* doubles(Index count, double low = -1, double high = 1) {
    std::uniform_real_distribution<double> uniform(low, high);
    double* const data = take<double>(count, Kind::kDouble);
    for (Index i = 0; i < count; ++i) data[i] = uniform(draws_);
    return data;
  }
  template <class T>
  std::span<T> copy(const std::vector<T>& values) {
    T* const data = take<T>(Index(values.size()), Kind::kBytes);
    std::copy(values.begin(), values.end(), data);
    return {data, values.size()};
  }
  /// Some numbers below n, ascending.
  std::span<const VertexId> some_rows(Index n) {
    std::vector<VertexId> rows;
    for (Index i = 0; i < n; ++i)
      if (draws_() % 3 != 0) rows.push_back(VertexId(i));
    return copy(rows);
  }
  std::span<const VertexId> ids(Index n) { return copy(random_ids(unsigned(draws_()), n)); }
  CsrView csr(const TestGraph& g) {
    return {g.rows, g.cols, copy(g.offsets).data(), copy(g.columns).data(),
            g.weights.empty() ? nullptr : copy(g.weights).data()};
  }
  BitView bits(const BitMatrix& from) {
    const BitView view = from.view();
    return {view.rows, view.cols,
            copy(std::vector<std::uint32_t>(view.words, view.words + view.rows * view.row_words())).data()};
  }
  bool toss() { return draws_() % 2 == 0; }
  unsigned draw() { return unsigned(draws_()); }
  /// A dropout for all rows, or for some.
  Dropout dropout(Index rows) {
    Dropout d{.rate = 0.4,
              .draws = Draws(draws_(), Purpose::kDropout, 3),
              .ids = ids(rows),
              .first_column = Index(draws_() % 3) * 5};
    if (toss()) d.begin = Index(draws_()) % (rows + 1);
    if (toss()) d.end = Index(draws_()) % (rows + 1);
    return d;
  }
  /// Any epilogue that may follow a product.
  Epilogue epilogue(Index rows, Index cols);

  // ---- the comparison

  /// Compares within `tolerance` · (1 + |want|); 0: to the bit.
  template <class... Formal, class... Given>
  void expect_alike(double tolerance, void (*kernel)(Context&, Formal...), const Given&... given) {
    there_.resize(Index(used_ + 64));
    gpu_.ctx.stream->upload(there_.data(), bytes(), used_ + 64);
    std::tuple<std::decay_t<Formal>...> there{std::decay_t<Formal>(given)...}, here = there;
    const auto move = [&](auto*& data, Index) { data = there_of(data); };
    std::apply([&](auto&... each) { (each_operand(each, move), ...), kernel(gpu_.ctx, each...); }, there);
    std::apply([&](auto&... each) { kernel(cpu_.ctx, each...); }, here);
    compare(tolerance);
  }

 private:
  enum class Kind { kBytes, kReal, kDouble, kBfloat16 };
  struct Region {
    std::size_t begin, end;
    Kind kind;
  };
  static constexpr std::size_t kBytes = std::size_t(8) << 20;

  template <class T>
  T* take(Index count, Kind kind) {
    const std::size_t begin = (used_ + 64 + 63) / 64 * 64, end = begin + std::size_t(count) * sizeof(T);
    ATOLL_CHECK(end + 64 < kBytes, "{} bytes of operands", end);
    regions_.push_back({begin, end, kind});
    used_ = end;
    return reinterpret_cast<T*>(bytes() + begin);
  }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(here_.data()); }
  template <class T>
  T* there_of(T* data) {
    const auto* const at = reinterpret_cast<const std::byte*>(data);
    if (at < bytes() || at >= bytes() + kBytes) return data;
    return const_cast<T*>(reinterpret_cast<const T*>(there_.data() + (at - bytes())));
  }
  void compare(double tolerance);
  void compare_bytes(const std::byte* got, std::size_t begin, std::size_t end);
  template <class T>
  void compare_numbers(const std::byte* got, const Region& region, double tolerance);

  bool in_halves_, alike_ = false;
  std::mt19937_64 draws_;
  GpuRank gpu_;
  TestRank cpu_{1};
  std::vector<double> here_;
  Buffer<std::byte> there_;
  std::size_t used_ = 0;
  std::vector<Region> regions_;
};

inline Epilogue Twins::epilogue(Index rows, Index cols) {
  Epilogue e;
  if (toss()) e.bias = reals(cols);
  e.norm = Epilogue::Norm(draw() % 3);
  if (e.norm != Epilogue::Norm::kNone && toss()) e.gain = reals(cols), e.shift = reals(cols);
  if (e.norm == Epilogue::Norm::kBatch) e.col_mean = reals(cols), e.col_rstd = reals(cols, 0.5, 1.5);
  if (e.norm == Epilogue::Norm::kLayer && toss()) e.row_stats = contiguous(rows, 2);
  if (toss()) e.residual = values(rows, cols), e.residual_scale = Real(0.3);
  e.activation = Activation(draw() % 4);
  if (toss()) e.dropout = dropout(rows);
  return e;
}

template <class T>
auto number_at(const std::byte* at) {
  T number;
  std::memcpy(&number, at, sizeof number);
  if constexpr (std::is_same_v<T, Bfloat16>) {
    return to_float(number);
  } else {
    return number;
  }
}

template <class T>
void Twins::compare_numbers(const std::byte* got, const Region& region, double tolerance) {
  if (std::is_same_v<T, Bfloat16> && tolerance > 0) tolerance = std::max(tolerance, kHalf);
  for (std::size_t at = region.begin; at < region.end; at += sizeof(T)) {
    const auto mine = number_at<T>(bytes() + at), theirs = number_at<T>(got + at);
    if (mine == theirs || (std::isnan(mine) && std::isnan(theirs))) continue;
    ASSERT_NEAR(double(theirs), double(mine), tolerance * (1 + std::abs(double(mine))))
        << "number " << (at - region.begin) / sizeof(T) << " of operand " << &region - regions_.data();
  }
}

inline void Twins::compare_bytes(const std::byte* got, std::size_t begin, std::size_t end) {
  ASSERT_EQ(std::memcmp(got + begin, bytes() + begin, end - begin), 0)
      << "bytes " << begin << " to " << end << ", whole numbers or what lies between operands";
}

inline void Twins::compare(double tolerance) {
  std::vector<double> copy(kBytes / sizeof(double));
  read(gpu_.ctx, there_.data(), copy.data(), used_ + 64);
  const auto* const got = reinterpret_cast<const std::byte*>(copy.data());
  std::size_t behind = 0;
  for (const Region& region : regions_) {
    compare_bytes(got, behind, region.begin);
    behind = region.end;
    if (region.kind == Kind::kReal) compare_numbers<Real>(got, region, tolerance);
    if (region.kind == Kind::kDouble) compare_numbers<double>(got, region, tolerance);
    if (region.kind == Kind::kBfloat16) compare_numbers<Bfloat16>(got, region, tolerance);
    if (region.kind == Kind::kBytes) compare_bytes(got, region.begin, region.end);
    if (testing::Test::HasFatalFailure()) return;
  }
  compare_bytes(got, behind, used_ + 64);
}

/// Tolerance of sums in another order.
inline constexpr double kSums = sizeof(Real) == 8 ? 1e-10 : 1e-4;
/// Tolerance of functions that two libraries round differently.
inline constexpr double kRounding = sizeof(Real) == 8 ? 1e-12 : 1e-5;

using KernelCase = void (*)(Twins&, RandomSizes&);
struct NamedCase {
  const char* kernel;
  KernelCase run;
};

}  // namespace atl::test
