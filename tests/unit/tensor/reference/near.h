// Numbers in double that know how far a kernel's may be from them. The references of kernels (reference.h)
// compute with these, so that a tolerance follows from the operands and isn't chosen by luck: every operation
// adds its rounding, of the size of what it is done with, to the errors that it passes on (running error
// analysis; Higham, Accuracy and Stability of Numerical Algorithms, section 3.3). Sums may be in any order.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/bfloat16.h"

namespace atl::reference {

/// What one operation on Reals may be off by, per unit of what it is done with. Theory has half of epsilon;
/// four times that has room for the reference's own rounding, where Reals are doubles, and for products of
/// errors.
inline constexpr double kRounding = 2 * double(std::numeric_limits<Real>::epsilon());
/// The same for what kernels keep in double precision, whatever a Real is.
inline constexpr double kDoubleRounding = 2 * std::numeric_limits<double>::epsilon();
/// What rounding to bfloat16 is off by.
inline constexpr double kHalfRounding = 0x1p-8;

/// A number that a kernel has to within `error`.
struct Near {
  double value = 0, error = 0;

  Near() = default;
  Near(double exact) : value(exact) {}  // NOLINT: implicit by intent, an operand is what it is
  Near(double value_, double error_) : value(value_), error(error_) {}
  double size() const { return std::abs(value); }
};

inline Near operator-(Near a) {
  return {-a.value, a.error};
}
inline Near operator+(Near a, Near b) {
  return {a.value + b.value, a.error + b.error + kRounding * (a.size() + b.size())};
}
inline Near operator-(Near a, Near b) {
  return a + -b;
}
inline Near operator*(Near a, Near b) {
  const double value = a.value * b.value;
  return {value, a.size() * b.error + b.size() * a.error + a.error * b.error + kRounding * std::abs(value)};
}
/// The divisor is surely not 0.
inline Near operator/(Near a, Near b) {
  const double value = a.value / b.value;
  return {value, (a.error + std::abs(value) * b.error) / (b.size() - b.error) + kRounding * std::abs(value)};
}

/// Σ of terms, in any order. n roundings go up as often as down, so that they grow like √n (Higham and Mary
/// 2019, "A new approach to probabilistic rounding error analysis").
class Sum {
 public:
  void operator+=(Near term) {
    value_ += term.value, error_ += term.error, size_ += term.size();
    ++terms_;
  }
  /// `rounding`: of its additions. A sum of nothing is exactly 0.
  Near total(double rounding = kRounding) const {
    return {value_, error_ + rounding * (1 + std::sqrt(double(terms_))) * size_};
  }

 private:
  double value_ = 0, error_ = 0, size_ = 0;
  Index terms_ = 0;
};

/// A monotone function of x, which kernels compute to `units` roundings.
template <class F>
Near through(F&& f, Near x, double units = 1) {
  const double value = f(x.value);
  const double up = std::abs(f(x.value + x.error) - value), down = std::abs(f(x.value - x.error) - value);
  return {value, std::max(up, down) + units * kRounding * std::abs(value)};
}
inline Near exp(Near x) {
  return through([](double v) { return std::exp(v); }, x, 4);
}
inline Near log(Near x) {
  return through([](double v) { return std::log(v); }, x);
}
/// Of what can't be negative, but may be so by rounding.
inline Near sqrt(Near x) {
  return through([](double v) { return std::sqrt(std::max(v, 0.0)); }, x);
}
inline Near max(Near a, Near b) {
  return {std::max(a.value, b.value), std::max(a.error, b.error)};
}
/// Where the sign isn't sure, the steeper side tells the error.
inline Near leaky(Near x, double slope) {
  if (x.value > x.error) return x;
  if (x.value < -x.error) return x * slope;
  return {x.value < 0 ? x.value * slope : x.value, x.error + kRounding * x.size()};
}

/// Computed in double precision, from terms of this size.
inline Near in_doubles(double value, double size) {
  return {value, 4 * kDoubleRounding * size};
}

/// A number that a kernel may have rounded to bfloat16 in between.
inline Near halved(Near x) {
  return {x.value, x.error + kHalfRounding * (x.size() + x.error)};
}
/// An operand that a kernel may round to bfloat16 before it computes.
inline Near maybe_halved(double exact) {
  return {exact, std::abs(exact - double(to_float(to_bfloat16(float(exact)))))};
}

}  // namespace atl::reference
