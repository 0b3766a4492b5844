// What a kernel has to leave in memory, number by number, as its reference says it.
#pragma once

#include <cstddef>
#include <vector>

#include "tensor/kernels.h"
#include "tensor/reference/near.h"

namespace atl::reference {

/// Collects a reference's results. Nothing is written: operands stay as they are, so that a reference and
/// then its kernel read the same.
class Expected {
 public:
  /// Element (r, c) of m, in either storage.
  void set(MatrixView m, Index r, Index c, Near value);
  void set(float* number, Near value) { add(number, Kind::kFloat, value, 0, 0); }
  void set(double* number, Near value) { add(number, Kind::kDouble, value, 0, 0); }
  /// Counts are exact.
  void set(std::int64_t* number, std::int64_t value) { add(number, Kind::kCount, double(value), 0, 0); }
  /// The memory may hold anything afterwards.
  void set_anything(void* memory, Index bytes);

  /// Checks each number where it is, or `shift` bytes behind, where a kernel had a copy of all operands.
  void check(std::ptrdiff_t shift = 0) const;
  /// The same, of operands that no operation has to round: no error is allowed.
  void check_exactly(std::ptrdiff_t shift = 0) const;
  /// Checks each number `shift` bytes behind beside the one that another device has left where it is: to
  /// within `differs` · (1 + |that one|), and in halves at least to the neighbouring one; 0: to the bit.
  void check_alike(std::ptrdiff_t shift, double differs) const;
  /// Calls visit(address, bytes) for all memory that the kernel may have written.
  template <class F>
  void each_written(F&& visit) const {
    for (const Number& each : numbers_) visit(each.address, each.bytes);
  }

 private:
  enum class Kind { kFloat, kDouble, kHalf, kCount, kAnything };
  struct Number {
    void* address;
    Index bytes;
    Kind kind;
    Near value;
    Index row, col;
  };
  void add(void* address, Kind kind, Near value, Index row, Index col);
  static void check(const Number& number, const std::byte* got, bool exactly);
  static void check_alike(const Number& number, const std::byte* got, double differs);

  std::vector<Number> numbers_;
};

/// Calls the kernel, and checks what it has left.
template <class... Formal, class... Given>
void expect_reference(Context& ctx, void (*kernel)(Context&, Formal...),
                      void (*reference)(Expected&, Formal...), Given&&... given) {
  Expected expected;
  reference(expected, given...);
  kernel(ctx, given...);
  expected.check();
}
/// The same of operands that no operation has to round.
template <class... Formal, class... Given>
void expect_exactly(Context& ctx, void (*kernel)(Context&, Formal...),
                    void (*reference)(Expected&, Formal...), Given&&... given) {
  Expected expected;
  reference(expected, given...);
  kernel(ctx, given...);
  expected.check_exactly();
}

}  // namespace atl::reference
