#include "tensor/reference/expected.h"

#include <gtest/gtest.h>

#include <cstring>

namespace atl::reference {
namespace {

/// Exponentials below the least normal number may be 0, with what they are multiplied by.
constexpr double kLeast = sizeof(Real) == sizeof(float) ? 1e-30 : 1e-290;

template <class T>
T number_at(const std::byte* at) {
  T number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

void Expected::add(void* address, Kind kind, Near value, Index row, Index col) {
  const std::size_t bytes = kind == Kind::kFloat  ? sizeof(float)
                            : kind == Kind::kHalf ? sizeof(Bfloat16)
                                                  : sizeof(double);
  numbers_.push_back({address, Index(bytes), kind, value, row, col});
}

void Expected::set(MatrixView m, Index r, Index c, Near value) {
  if (m.halves != nullptr) return add(m.halves + r * m.stride + c, Kind::kHalf, value, r, c);
  constexpr Kind kReal = sizeof(Real) == sizeof(float) ? Kind::kFloat : Kind::kDouble;
  add(m.data + r * m.stride + c, kReal, value, r, c);
}

void Expected::set_anything(void* memory, Index bytes) {
  if (bytes > 0) numbers_.push_back({memory, bytes, Kind::kAnything, {}, 0, 0});
}

void Expected::check(std::ptrdiff_t shift) const {
  for (const Number& each : numbers_) {
    check(each, static_cast<const std::byte*>(each.address) + shift, false);
    if (testing::Test::HasFatalFailure()) return;
  }
}

void Expected::check_exactly(std::ptrdiff_t shift) const {
  for (const Number& each : numbers_) {
    check(each, static_cast<const std::byte*>(each.address) + shift, true);
    if (testing::Test::HasFatalFailure()) return;
  }
}

void Expected::check_alike(std::ptrdiff_t shift, double differs) const {
  for (const Number& each : numbers_) {
    check_alike(each, static_cast<const std::byte*>(each.address) + shift, differs);
    if (testing::Test::HasFatalFailure()) return;
  }
}

void Expected::check_alike(const Number& number, const std::byte* got, double differs) {
  if (number.kind == Kind::kAnything) return;
  const auto found = [&](const std::byte* at) {
    if (number.kind == Kind::kFloat) return double(number_at<float>(at));
    if (number.kind == Kind::kHalf) return double(to_float(number_at<Bfloat16>(at)));
    return number.kind == Kind::kCount ? double(number_at<std::int64_t>(at)) : number_at<double>(at);
  };
  const double one = found(got), cpus = found(static_cast<const std::byte*>(number.address));
  if (same(one, cpus)) return;
  if (number.kind == Kind::kHalf && differs > 0) differs = std::max(differs, 2 * kHalfRounding);
  ASSERT_GT(differs, 0) << one << " and the CPU's " << cpus << " aren't the same: row " << number.row
                        << " column " << number.col;
  ASSERT_NEAR(one, cpus, differs * (1 + std::abs(cpus)))
      << "beside the CPU's: row " << number.row << " column " << number.col;
}

void Expected::check(const Number& number, const std::byte* got, bool exactly) {
  const auto is_near = [&](double found, double stored, double rounding) {
    const Near& want = number.value;
    const double most = want.error + rounding * (want.size() + want.error) + kLeast;
    ASSERT_TRUE(std::isfinite(want.error)) << "the reference knows nothing of row " << number.row
                                           << " column " << number.col << ", about " << want.value;
    if (exactly || want.error == 0 || !std::isfinite(want.value)) {
      ASSERT_TRUE(same(found, stored))
          << "row " << number.row << " column " << number.col << ": " << found << " and not " << stored;
    } else {
      ASSERT_NEAR(found, want.value, most) << "row " << number.row << " column " << number.col;
    }
  };
  const double value = number.value.value;
  switch (number.kind) {
    case Kind::kFloat:
      return is_near(double(number_at<float>(got)), double(float(value)), kRounding);
    case Kind::kDouble:
      return is_near(number_at<double>(got), value, kDoubleRounding);
    case Kind::kHalf:
      return is_near(double(to_float(number_at<Bfloat16>(got))), double(to_float(to_bfloat16(float(value)))),
                     kHalfRounding);
    case Kind::kCount:
      ASSERT_EQ(number_at<std::int64_t>(got), std::int64_t(value)) << "a count";
      return;
    case Kind::kAnything:
      return;
  }
}

}  // namespace atl::reference
