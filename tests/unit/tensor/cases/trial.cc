#include "tensor/cases/trial.h"

#include <cmath>
#include <cstring>

#include "tensor/copies.h"

namespace atl::test {
namespace {

constexpr int kOfGaps = 0x7b;  // what lies between operands

}  // namespace

Trial::Trial(Context& ctx, unsigned seed, Operands operands)
    : ctx_(ctx),
      in_halves_(seed % 2 == 1),
      in_quarters_(operands == Operands::kQuarters),
      draws_(seed),
      here_(Device::kCpu, kBytes),
      there_(ctx.device) {
  std::memset(here_.data(), kOfGaps, kGap);
}

std::byte* Trial::take_bytes(std::size_t bytes) {
  const std::size_t begin = (used_ + kGap + kGap - 1) / kGap * kGap, end = begin + bytes;
  ATOLL_CHECK(end + kGap < kBytes, "{} bytes of operands", end);
  std::memset(here_.data() + used_, kOfGaps, end + kGap - used_);
  used_ = end;
  return here_.data() + begin;
}

double Trial::number(double low, double high) {
  const double any = std::uniform_real_distribution<double>(low, high)(draws_);
  return in_quarters_ ? std::round(any * 4) / 4 : any;
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
  auto* const data = take<Bfloat16>(count);
  for (Index i = 0; i < count; ++i) data[i] = to_bfloat16(float(number(low, high)));
  return {data + (aligned ? 0 : draws_() % 8), rows, cols, stride};
}

Real* Trial::reals(Index count, double low, double high) {
  Real* const data = take<Real>(count);
  for (Index i = 0; i < count; ++i) data[i] = Real(number(low, high));
  return data;
}

double* Trial::doubles(Index count, double low, double high) {
  double* const data = take<double>(count);
  for (Index i = 0; i < count; ++i) data[i] = number(low, high);
  return data;
}

std::span<const VertexId> Trial::some_rows(Index n) {
  std::vector<VertexId> rows;
  for (Index i = 0; i < n; ++i)
    if (draws_() % 3 != 0) rows.push_back(VertexId(i));
  return copy(rows);
}

CsrView Trial::csr(const TestGraph& g) {
  std::vector<float> weights = g.weights;
  for (float& each : weights) each = in_quarters_ ? std::round(each * 4) / 4 : each;
  return {g.rows, g.cols, copy(g.offsets).data(), copy(g.columns).data(),
          weights.empty() ? nullptr : copy(weights).data()};
}

BitView Trial::bits(const BitMatrix& from) {
  const BitView view = from.view();
  return {view.rows, view.cols,
          copy(std::vector<std::uint32_t>(view.words, view.words + view.rows * view.row_words())).data()};
}

Dropout Trial::dropout(Index rows) {
  Dropout d{.rate = in_quarters_ ? 0.5 : 0.4,
            .draws = Draws(draws_(), Purpose::kDropout, 3),
            .ids = ids(rows),
            .first_column = Index(draws_() % 3) * 5};
  if (toss()) d.begin = Index(draws_()) % (rows + 1);
  if (toss()) d.end = Index(draws_()) % (rows + 1);
  return d;
}

Epilogue Trial::epilogue(Index rows, Index cols) {
  Epilogue e;
  if (in_quarters_ && in_halves_) return e;  // a kernel may round to halves what it finishes
  if (toss()) e.bias = reals(cols);
  e.norm = in_quarters_ ? Epilogue::Norm::kNone : Epilogue::Norm(draw() % 3);
  if (e.norm != Epilogue::Norm::kNone && toss()) e.gain = reals(cols), e.shift = reals(cols);
  if (e.norm == Epilogue::Norm::kBatch) e.col_mean = reals(cols), e.col_rstd = reals(cols, 0.5, 1.5);
  if (e.norm == Epilogue::Norm::kLayer && toss()) e.row_stats = contiguous(rows, 2);
  if (toss()) e.residual = values(rows, cols), e.residual_scale = Real(in_quarters_ ? 0.5 : 0.3);
  e.activation = Activation(draw() % 4);
  if (in_quarters_ && e.activation != Activation::kNone) e.activation = Activation::kRelu;
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
  got_.resize(used_ + kGap);
  read(ctx_, there_.data(), got_.data(), got_.size());
  const std::ptrdiff_t shift = got_.data() - here_.data();
  if (in_quarters_) expected.check_exactly(shift);
  if (!in_quarters_) expected.check(shift);
  if (testing::Test::HasFatalFailure()) return;
  std::vector<std::byte> before(here_.data(), here_.data() + got_.size());
  expected.each_written([&](const void* address, Index bytes) {
    const auto begin = std::size_t(static_cast<const std::byte*>(address) - here_.data());
    std::memcpy(before.data() + begin, got_.data() + begin, std::size_t(bytes));
  });
  for (std::size_t i = 0; i < got_.size(); ++i)
    ASSERT_EQ(int(got_[i]), int(before[i])) << "byte " << i << ", which the kernel mayn't write";
}

void Trial::compare_with_cpu(const reference::Expected& expected,
                             const std::function<void(Context&)>& kernel) {
  const bool on_cpu = ctx_.device == Device::kCpu;
  if (testing::Test::HasFatalFailure() || in_quarters_ || (on_cpu && differs_ > 0)) return;
  const simd::Table& in_use = simd::loops();
  if (on_cpu) simd::use(*simd::table_named("baseline"));
  TestRank cpu(1);
  kernel(cpu.ctx);
  simd::use(in_use);
  expected.check_alike(got_.data() - here_.data(), differs_);
}

}  // namespace atl::test
