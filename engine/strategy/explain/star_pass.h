// The verbs of a pass over an explanation graph. An arc's mask scales the row that crosses it, in each layer that gathers: of a layer
// that sums products of its sources' rows that is the arc's weight, and any other layer (attention, a softmax, a norm before it) sees a
// source as much smaller. So every model is explained as it is, and what comes back for the scaled rows is the masks' gradient.
#pragma once

#include <limits>
#include <vector>

#include "strategy/explain/star_graph.h"
#include "strategy/layer_runner.h"

namespace atl {

/// Of each layer on a star with so many others: the last of those that gather computes the centre alone, as do those behind it.
std::vector<LayerRows> star_rows(const Model& model, Index others);
/// Columns of the widest input that is gathered.
Index widest_gathered(const Model& model);

/// In evaluation: no draws, running statistics are constants. References outlive it.
class StarPass final : public Pass, private Gather {
 public:
  StarPass(Context& ctx, const Model& model, const StarGraph& star);

  const std::vector<LayerRows>& rows() const { return rows_; }
  /// (others) of each arc to the centre, from here on.
  void mask(std::span<const Real> open) { open_ = open; }
  /// (others) what backward adds to: the masks' gradient.
  std::span<double> d_mask() { return d_open_; }
  Index bytes() const { return scaled_.held_bytes() + d_scaled_.held_bytes(); }

  Context& context() override { return ctx_; }
  Index destinations() const override { return rows_[at_].outputs; }
  std::span<const VertexId> destination_ids() const override {
    return star_.ids().first(std::size_t(destinations()));
  }
  bool training() const override { return false; }
  bool repeating() const override { return false; }
  Draws draws(Purpose, int) const override { return {}; }
  atl::Gather& gather(const Rows& rows) override { return begin(rows, {}, false); }
  atl::Gather& gather_back(const Rows& rows, MatrixView d_rows) override { return begin(rows, d_rows, true); }
  void reduce(std::span<double>) override {}
  /// So many that a row changes no statistic: that is what a constant's gradient is.
  double reduced_rows() const override { return std::numeric_limits<double>::infinity(); }
  void bind(int layer) override { at_ = std::size_t(layer); }
  void repeat(bool) override {}

 private:
  enum class Step { kFirst, kSecond, kEnd };
  atl::Gather& begin(const Rows& rows, MatrixView d_rows, bool back);
  const Source* next() override;
  void end_back();

  Context& ctx_;
  const StarGraph& star_;
  std::vector<LayerRows> rows_;
  std::size_t at_ = 0;
  std::span<const Real> open_;
  std::vector<double> d_open_;
  Matrix scaled_, d_scaled_;  // (others, widest input)
  // Of the gather under way:
  Block unmasked_, masked_;
  Source own_, crossing_;
  ConstMatrixView gathered_;
  MatrixView d_gathered_;
  bool back_ = false;
  Step step_ = Step::kEnd;
};

}  // namespace atl
