// The verbs of a pass over an explanation graph. An arc's mask scales the row that travels over it, in each
// layer that gathers. In a layer that sums products of its sources' rows, this equals weighting the arc; in
// any other layer (attention, a softmax, a norm first) the source's row is smaller. So every model is
// explained without changes, and the gradients of the scaled rows give the masks' gradient.
#pragma once

#include <vector>

#include "model/model.h"
#include "strategies/schedule/layer_runner.h"

namespace atl {

// The explanation graph of a rank (DGS, Wan et al. 2022, section III-B): a star. Its centre, row 0, stands
// for all vertices of the rank; the other rows are the vertices of other ranks that these read. The centre
// reads itself and all others. Each of the others reads the centre, and itself where the model wants
// self-loops.
//
// The question is which of the others the centre needs, so the arcs to the centre are a separate block, the
// masked one.

class StarGraph {
 public:
  /// ids (remote): the others', as in the data set.
  StarGraph(std::span<const VertexId> ids, const GraphNeeds& needs);
  StarGraph(const StarGraph&) = delete;

  Index others() const { return others_; }
  Index rows() const { return 1 + others_; }
  std::span<const VertexId> ids() const { return ids_; }  // (rows); 0 for the centre
  /// Views of the star's arcs: unmasked() has all except the masked ones (rows or 1 × rows), and masked() has
  /// the masked ones (rows or 1 × others). `last`: only arcs to the centre.
  Block unmasked(bool last) const;
  Block masked(bool last) const;
  Index bytes() const;

 private:
  struct Arcs {
    std::vector<Index> offsets, back_offsets, back_place;
    std::vector<VertexId> columns, back_columns;
  };
  Block block(const Arcs& arcs, bool last, Index first_source) const;

  Index others_;
  Arcs inner_, last_, masked_;
  std::vector<Real> dst_scale_, src_scale_;  // (rows) or empty: 1
  std::vector<VertexId> ids_;
};

/// The rows that each layer computes on a star of a centre and `others` neighbours. The last layer that
/// gathers, and all layers after it, compute only the centre.
std::vector<LayerRows> star_rows(const Model& model, Index others);
/// The number of columns of the widest input that a layer gathers.
Index widest_gathered(const Model& model);

/// For evaluation: no draws, and running statistics are constants. References must outlive it.
class StarPass final : public Pass, private Gather {
 public:
  StarPass(Context& ctx, const Model& model, const StarGraph& star);

  const std::vector<LayerRows>& rows() const { return rows_; }
  /// Sets the mask of each arc to the centre, (others), from here on.
  void mask(std::span<const Real> open) { open_ = open; }
  /// (others) the masks' gradient, to which backward adds.
  std::span<double> d_mask() { return d_open_; }
  Index bytes() const { return scaled_.held_bytes() + d_scaled_.held_bytes(); }

  atl::Gather& gather(const Rows& rows) override { return begin(rows, {}, false); }
  atl::Gather& gather_back(const Rows& rows, MatrixView d_rows) override { return begin(rows, d_rows, true); }
  void reduce(std::span<double>) override {}
  void bind(int layer) override {
    state_.destinations = rows_[std::size_t(layer)].outputs;
    state_.ids = star_.ids().first(std::size_t(state_.destinations));
  }

 private:
  enum class Step { kFirst, kSecond, kEnd };
  atl::Gather& begin(const Rows& rows, MatrixView d_rows, bool back);
  const Source* next() override;
  void end_back();

  const StarGraph& star_;
  std::vector<LayerRows> rows_;
  std::span<const Real> open_;
  std::vector<double> d_open_;
  Matrix scaled_, d_scaled_;  // (others, widest input)
  // For the present gather:
  Block unmasked_, masked_;
  Source own_, remote_;
  ConstMatrixView gathered_;
  MatrixView d_gathered_;
  bool back_ = false;
  Step step_ = Step::kEnd;
};

}  // namespace atl
