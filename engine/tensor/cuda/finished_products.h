// Products that cuBLASLt finishes itself: it applies bias and ReLU while the sums are still in registers, so
// that no pass over the rows follows. The call and its algorithm are chosen once for each shape.
//
// NaN: our own ReLU passes it on. cuBLASLt's is max(x, 0), which may turn NaN into 0; its manual doesn't say.
// Features are finite when they are read, and so are weights, because a step whose gradient isn't finite
// leaves them unchanged. So a NaN begins as an overflow, and training still ends at it. If multiplied rows
// have a NaN, the weight's gradient has it too, whatever ReLU made of it (NaN · 0 is NaN). If a weight has
// it, the rows' gradient has it. One kind of NaN can pass unseen: a sum of finite rows and weights (or with a
// first layer's weight, whose rows have no gradient) that has infinities of both signs. Such a sum counts as
// 0. We accept this for the pass over the rows that it saves in evaluation and inference.
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

/// A call of cuBLASLt with everything that it needs, so that it may outlive its plan. cuBLASLt makes
/// descriptors in place, and these needn't be destroyed, so they are plain words. They start as zeros,
/// because cuBLASLt leaves some words unset. `first` is our right operand (gemm.cu).
struct FinishedProduct {
  const void* first = nullptr;
  const void* second = nullptr;
  void* to = nullptr;
  void* room = nullptr;  // scratch, if the algorithm needs any
  std::uint64_t room_bytes = 0;
  std::uint64_t accumulates = 0;  // whether it adds to what `to` holds
  cublasLtMatmulDescOpaque_t operation{};
  cublasLtMatrixLayoutOpaque_t first_layout{}, second_layout{}, to_layout{};
  cublasLtMatmulAlgo_t algorithm{};
};
static_assert(std::has_unique_object_representations_v<FinishedProduct>, "calls are compared byte by byte");

/// Runs the product; given to call_library().
void finish_product_now(const Target& on, const FinishedProduct& product);

/// The distance of rows in elements. cuBLAS requires at least a row's width, even for a single row.
inline Index row_distance(ConstMatrixView v) {
  const Index stride = v.stride < v.cols ? v.cols : v.stride;
  return stride < 1 ? 1 : stride;
}

/// Belongs to one stream, whose memory for products it uses.
class FinishedProducts {
 public:
  explicit FinishedProducts(Stream& stream);

  /// Plans out = relu(a · w (+ out) + bias), or the same without ReLU. a (n, k), w (k, m), out (n, m), none
  /// empty; a and w are both in halves, or none of the three is. Returns nothing if cuBLASLt has no
  /// algorithm. The bias is set afterwards. The same shape always gets the same algorithm.
  std::optional<FinishedProduct> plan(ConstMatrixView a, ConstMatrixView w, MatrixView out, bool accumulates,
                                      bool relu);
  /// bias (m) must be stored as out is, because cuBLASLt takes no other, at an address that
  /// has_place_for_bias().
  static void set_bias(FinishedProduct& product, const void* bias);
  static bool has_place_for_bias(const void* address);

 private:
  /// Everything that decides the choice of an algorithm.
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
