// Calls kernels that compute only with Reals when matrices are stored in halves. A kernel gets copies in the
// workspace, and the copies that it may have written are stored back. So every kernel takes either storage,
// and only kernels for which it pays read halves themselves.
#pragma once

#include <iterator>
#include <tuple>

#include "base/error.h"
#include "tensor/kernels.h"

namespace atl {

/// Calls visit(view) for every matrix of Reals in an argument, by reference.
template <class T, class F>
void each_matrix(T&, F&&) {}
template <class F>
void each_matrix(MatrixView& m, F&& visit) {
  visit(m);
}
template <class F>
void each_matrix(ConstMatrixView& m, F&& visit) {
  visit(m);
}
template <class F>
void each_matrix(Epilogue& e, F&& visit) {
  visit(e.row_stats), visit(e.residual);
}
template <class F>
void each_matrix(EpilogueGradient& g, F&& visit) {
  visit(g.residual);
}
template <class F>
void each_matrix(SoftmaxState& state, F&& visit) {
  visit(state.max), visit(state.sum);
}
template <class F>
void each_matrix(Softmaxes& s, F&& visit) {
  each_matrix(s.state, visit), visit(s.out);
}

template <class... Given>
bool any_in_halves(const Given&... arguments) {
  bool any = false;
  const auto look = [&](auto& m) { any = any || m.halves != nullptr; };
  const auto look_in = [&](auto argument) { each_matrix(argument, look); };  // a copy: visits take references
  (look_in(arguments), ...);
  return any;
}

/// The copies for one call.
class RealCopies {
 public:
  explicit RealCopies(Context& ctx) : ctx_(ctx) {}

  void operator()(ConstMatrixView& m) {
    if (m.halves == nullptr) return;
    const MatrixView copy = next(m);
    axpby(ctx_, 1, m, 0, copy);
    m = copy;
  }
  void operator()(MatrixView& m) {
    if (m.halves == nullptr) return;
    const MatrixView copy = next(m);
    axpby(ctx_, 1, m, 0, copy);
    written_[count_ - 1] = m, copies_[count_ - 1] = copy;
    m = copy;
  }
  /// Rounds the copies that may have been written back to halves.
  void store() {
    for (int i = 0; i < count_; ++i)
      if (written_[i].cols > 0) axpby(ctx_, 1, copies_[i], 0, written_[i]);
  }

 private:
  static constexpr ScratchKey kCopies[] = {ScratchKey(), ScratchKey(), ScratchKey(), ScratchKey(),
                                           ScratchKey(), ScratchKey(), ScratchKey(), ScratchKey()};
  static constexpr int kMost = int(std::size(kCopies));

  template <class T>
  MatrixView next(const View<T>& m) {
    ATOLL_CHECK(count_ < kMost, "more than {} matrices in halves", kMost);
    return ctx_.workspace->matrix(kCopies[count_++], m.rows, m.cols);
  }

  Context& ctx_;
  int count_ = 0;
  MatrixView written_[kMost], copies_[kMost];
};

/// Calls kernel(ctx, arguments…) with all matrices in Reals.
template <class Kernel, class... Given>
void call_in_reals(Kernel kernel, Context& ctx, Given... arguments) {
  RealCopies copies(ctx);
  (each_matrix(arguments, copies), ...);
  kernel(ctx, arguments...);
  copies.store();
}

}  // namespace atl
