#include "tensor/cases/trial.h"

#include <cstring>

#include "tensor/copies.h"

namespace atl::test {
namespace {

constexpr int kOfGaps = 0x7b;  // what lies between operands

}  // namespace

Trial::Trial(Context& ctx, unsigned seed)
    : ctx_(ctx), in_halves_(seed % 2 == 1), draws_(seed), here_(Device::kCpu, kBytes), there_(ctx.device) {
  std::memset(here_.data(), kOfGaps, kGap);
}

std::byte* Trial::take_bytes(std::size_t bytes) {
  const std::size_t begin = (used_ + kGap + kGap - 1) / kGap * kGap, end = begin + bytes;
  ATOLL_CHECK(end + kGap < kBytes, "{} bytes of operands", end);
  std::memset(here_.data() + used_, kOfGaps, end + kGap - used_);
  used_ = end;
  return here_.data() + begin;
}

MatrixView Trial::matrix(Index rows, Index cols, double low, double high) {
  const bool aligned = draws_() % 2 == 0 || alike_;
  const Index stride = cols + (aligned ? (4 - cols % 4) % 4 : Index(draws_() % 3));
  Real* const data = reals(rows * stride + 4, low, high) + (aligned ? 0 : draws_() % 4);
  return {data, rows, cols, stride};
}

MatrixView Trial::values(Index rows, Index cols, double low, double high) {
  if (!in_halves_ || (!alike_ && toss())) return matrix(rows, cols, low, high);
  const bool aligned = alike_ || toss();
  const Index stride = cols + (aligned ? (8 - cols % 8) % 8 : Index(draws_() % 3)), count = rows * stride + 8;
  std::uniform_real_distribution<double> uniform(low, high);
  auto* const data = take<Bfloat16>(count);
  for (Index i = 0; i < count; ++i) data[i] = to_bfloat16(float(uniform(draws_)));
  return {data + (aligned ? 0 : draws_() % 8), rows, cols, stride};
}

Real* Trial::reals(Index count, double low, double high) {
  std::uniform_real_distribution<double> uniform(low, high);
  Real* const data = take<Real>(count);
  for (Index i = 0; i < count; ++i) data[i] = Real(uniform(draws_));
  return data;
}

double* Trial::doubles(Index count, double low, double high) {
  std::uniform_real_distribution<double> uniform(low, high);
  double* const data = take<double>(count);
  for (Index i = 0; i < count; ++i) data[i] = uniform(draws_);
  return data;
}

std::span<const VertexId> Trial::some_rows(Index n) {
  std::vector<VertexId> rows;
  for (Index i = 0; i < n; ++i)
    if (draws_() % 3 != 0) rows.push_back(VertexId(i));
  return copy(rows);
}

CsrView Trial::csr(const TestGraph& g) {
  return {g.rows, g.cols, copy(g.offsets).data(), copy(g.columns).data(),
          g.weights.empty() ? nullptr : copy(g.weights).data()};
}

BitView Trial::bits(const BitMatrix& from) {
  const BitView view = from.view();
  return {view.rows, view.cols,
          copy(std::vector<std::uint32_t>(view.words, view.words + view.rows * view.row_words())).data()};
}

Dropout Trial::dropout(Index rows) {
  Dropout d{.rate = 0.4,
            .draws = Draws(draws_(), Purpose::kDropout, 3),
            .ids = ids(rows),
            .first_column = Index(draws_() % 3) * 5};
  if (toss()) d.begin = Index(draws_()) % (rows + 1);
  if (toss()) d.end = Index(draws_()) % (rows + 1);
  return d;
}

Epilogue Trial::epilogue(Index rows, Index cols) {
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

MatrixView Trial::finished_values(const Epilogue& e, Index rows, Index cols) {
  const MatrixView y = values(rows, cols);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      if (reference::factor(e.dropout, r, c).value != 0) continue;
      if (y.halves != nullptr)
        y.halves[r * y.stride + c] = to_bfloat16(0);
      else
        y.at(r, c) = 0;
    }
  return y;
}

void Trial::upload() {
  there_.resize(Index(used_ + kGap));
  ctx_.stream->upload(there_.data(), here_.data(), used_ + kGap);
}

void Trial::compare(const reference::Expected& expected) {
  std::vector<std::byte> got(used_ + kGap);
  read(ctx_, there_.data(), got.data(), got.size());
  expected.check(got.data() - here_.data());
  if (testing::Test::HasFatalFailure()) return;
  std::vector<std::byte> before(here_.data(), here_.data() + got.size());
  expected.each_written([&](const void* address, Index bytes) {
    const auto begin = std::size_t(static_cast<const std::byte*>(address) - here_.data());
    std::memcpy(before.data() + begin, got.data() + begin, std::size_t(bytes));
  });
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(int(got[i]), int(before[i])) << "byte " << i << ", which the kernel mayn't write";
}

}  // namespace atl::test
