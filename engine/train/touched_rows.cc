#include "train/touched_rows.h"

#include "tensor/kernels.h"

namespace atl {

TouchedRows::TouchedRows(Context& ctx, Communicator& comm, Parameters& parameters, int layer)
    : layer_(layer), everyone_(comm, {}), sum_(ctx.device), copies_(ctx) {
  for (const Parameters::Entry& entry : parameters.entries()) {
    if (entry.layer != layer || !entry.spec.trainable || entry.count == 0) continue;
    ATOLL_CHECK(entry.placement.everywhere(), "{} isn't whole on every rank", entry.spec.name);
    Real* const begin = parameters.gradients().data() + entry.offset;
    const int blocks = std::max(1, entry.spec.input_blocks);
    const Index rows = entry.spec.rows / blocks;
    for (int block = 0; block < blocks; ++block)
      pieces_.push_back(
          {{begin + block * rows * entry.spec.cols, rows, entry.spec.cols}, entry.spec.input_blocks > 0});
  }
}

void TouchedRows::choose(Context& ctx, std::span<const VertexId> features) {
  copies_.restart();
  features_ = copies_.of(features);
  count_ = 0;
  for (const Piece& piece : pieces_)
    count_ += (piece.by_feature ? Index(features.size()) : piece.values.rows) * piece.values.cols;
  packed_.grow(1, count_, ctx.device, true);
  sum_.reserve(ctx, everyone_, count_, Index(sizeof(Real)));
}

/// Calls visit(piece, its place among the packed rows).
template <class Visit>
void TouchedRows::for_each_piece(Visit visit) {
  Real* at = packed_.data();
  for (const Piece& piece : pieces_) {
    const MatrixView packed(at, piece.by_feature ? Index(features_.size()) : piece.values.rows,
                            piece.values.cols);
    visit(piece, packed);
    at += packed.rows * packed.cols;
  }
}

void TouchedRows::begin_sum(Context& ctx, Communicator& comm) {
  for_each_piece([&](const Piece& piece, MatrixView packed) {
    if (piece.by_feature)
      gather_rows(ctx, piece.values, features_.data(), packed);
    else
      axpby(ctx, 1, piece.values, 0, packed);
  });
  sum_.begin(ctx, comm, Traffic::kGradient, everyone_, std::span(packed_.data(), std::size_t(count_)));
}

void TouchedRows::finish_sum(Context& ctx) {
  sum_.end(ctx);
  for_each_piece([&](const Piece& piece, MatrixView packed) {
    if (piece.by_feature)
      scatter_rows(ctx, packed, features_.data(), piece.values);
    else
      axpby(ctx, 1, packed, 0, piece.values);
  });
}

}  // namespace atl
