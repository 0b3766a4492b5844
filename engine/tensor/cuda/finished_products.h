// Products that cuBLASLt finishes itself: bias and ReLU while the sums are still in registers, so that no
// pass over the rows follows. What it is asked for, and with which of its algorithms, is settled once for
// each shape.
//
// NaN: our own ReLU passes it. That of cuBLASLt is max(x, 0), of which its manual says no more: x may become
// 0. Features are finite where they are read, and so are weights, for a step whose gradient isn't finite
// leaves them as they are. So a NaN begins as an overflow, and training still ends: if rows that are
// multiplied have it, so has the weight's gradient, whatever ReLU made of it (NaN · 0 is NaN); if a weight
// has it, the gradient of the rows. What is left is infinities of both signs in one sum, of finite rows and
// weights (or of a first layer's weight, whose rows have no gradient). Such a sum counts as 0. That is worth
// the pass that is saved in evaluation and inference.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>

#include "tensor/cuda/recording.h"
#include "tensor/matrix.h"

namespace atl::cuda {

class Stream;

/// A call of cuBLASLt, whole: what it was planned with lies in it, so that it outlives its plan. cuBLASLt
/// makes descriptors in place and destroys none of these, so they are no more than their words, of which it
/// leaves some as they were: zeros. `first` is our right operand (gemm.cu).
struct FinishedProduct {
  const void* first = nullptr;
  const void* second = nullptr;
  void* to = nullptr;
  void* room = nullptr;  // where the algorithm wants some
  std::uint64_t room_bytes = 0;
  std::uint64_t accumulates = 0;  // adds to what `to` holds
  cublasLtMatmulDescOpaque_t operation{};
  cublasLtMatrixLayoutOpaque_t first_layout{}, second_layout{}, to_layout{};
  cublasLtMatmulAlgo_t algorithm{};
};
static_assert(std::has_unique_object_representations_v<FinishedProduct>, "calls are compared byte by byte");

/// Given to call_library().
void finish_product_now(const Target& on, const FinishedProduct& product);

/// The elements from one row to the next. cuBLAS wants at least a row's width, also where there is one row
/// only.
inline Index row_distance(ConstMatrixView v) {
  const Index stride = v.stride < v.cols ? v.cols : v.stride;
  return stride < 1 ? 1 : stride;
}

/// Of one stream, whose memory for products they share.
class FinishedProducts {
 public:
  explicit FinishedProducts(Stream& stream);

  /// out = relu(a · w (+ out) + bias), or without ReLU. a (n, k), w (k, m), out (n, m), none empty; a and w
  /// both in halves, or none of the three. Nothing where cuBLASLt has no algorithm. The bias is set
  /// afterwards. The same shape gets the same algorithm always.
  std::optional<FinishedProduct> plan(ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulates,
                                      bool relu);
  /// bias (m), stored as out is: cuBLASLt takes no other. In an address that has_place_for_bias().
  static void set_bias(FinishedProduct& product, const void* bias);
  static bool has_place_for_bias(const void* address);

 private:
  /// All that an algorithm is chosen by.
  struct Shape {
    Index m, n, k, first_distance, second_distance, to_distance;
    Index first_alignment, second_alignment, to_alignment;  // bytes
    Storage of, into;
    bool relu;
    auto all() const {
      return std::tie(m, n, k, first_distance, second_distance, to_distance, first_alignment,
                      second_alignment, to_alignment, of, into, relu);
    }
    bool operator<(const Shape& other) const { return all() < other.all(); }
  };
  std::optional<FinishedProduct> planned(const Shape& shape) const;

  Stream& stream_;
  std::map<Shape, std::optional<FinishedProduct>> plans_;
};

}  // namespace atl::cuda
