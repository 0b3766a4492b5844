// What exact inference sends and holds where its first layers go by columns (column_inference.h), or by rows
// that are put together from columns (ColumnRows).
#include "comm/all_reduce.h"
#include "plan/memory.h"
#include "strategies/p3/column_inference.h"
#include "strategies/p3/plan.h"

namespace atl {
namespace {

class SlabsByColumns final : public SlabColumns {
 public:
  SlabsByColumns(const Model& model, std::vector<ColumnShare> shares)
      : model_(model), shares_(std::move(shares)), are_inferred_(infers_by_columns(model)) {}

  Index width(Rank rank) const override { return are_inferred_ ? slab_width(model_, share(rank)) : 0; }

  void send(Rank rank, const AllSlabs& slabs, std::vector<SentInEvaluation>& sent) const override {
    if (!share(rank).is_split()) return;
    SentInEvaluation& here = sent[std::size_t(rank)];
    if (!are_inferred_) {
      here[std::size_t(EvaluationPart::kRows)] += whole_row_bytes(rank, slabs);
      return;
    }
    if (!slabs.mapped) here[std::size_t(EvaluationPart::kStructure)] += pushed_bytes(rank, slabs);
    for (const Rank member : share(rank).group)
      if (member != rank)
        here[std::size_t(EvaluationPart::kSummands)] +=
            slabs.of(member).rows * double(whole_layer(model_).spec().out * kReal);
    here[std::size_t(EvaluationPart::kScores)] += score_bytes(rank, slabs);
  }

  /// Counts what a rank holds: the group's rows in its own columns; or rows put together from all columns,
  /// and all weights.
  void hold(Rank rank, const AllSlabs& slabs, const FeatureShape& features, DryRun& run) const override {
    const Index rows = gathers() ? slabs.of(rank).most_sources : slabs.of(rank).most_rows;
    if (are_inferred_)
      run.inference.halo += held_by_columns(rank, slabs.of(rank).most_rows, rows, features);
    else
      run.inference.halo += kReal * rows * 3 * share(rank).whole + whole_weight_bytes(rank);
  }

 private:
  const ColumnShare& share(Rank rank) const { return shares_[std::size_t(rank)]; }
  bool gathers() const { return model_.layers.front()->spec().gathers; }

  /// Bytes that ColumnPush sends.
  double pushed_bytes(Rank rank, const AllSlabs& slabs) const {
    const GroupBatchOptions pushed = group_options(model_);
    const RankSlabs& of = slabs.of(rank);
    const double read = pushed.hops > 0 ? of.sources : of.rows;
    double bytes = kSizeBytes * double(PushedSizes::length(pushed.hops)) * double(slabs.steps) + 4 * read;
    if (pushed.hops > 0) bytes += 4 * of.rows + of.arcs * (slabs.weighted ? 8 : 4);
    if (pushed.scales_destinations()) bytes += double(kReal) * of.rows;
    if (pushed.scales_sources()) bytes += double(kReal) * read;
    return bytes * double(share(rank).members() - 1);
  }

  /// Bytes of the scores of attention's destinations and sources, which the group sums.
  double score_bytes(Rank rank, const AllSlabs& slabs) const {
    const SoftmaxCost softmax = whole_layer(model_).spec().cost.softmax;
    if (softmax.heads == 0 || !softmax.has_scores) return 0;
    double bytes = 0;
    for (Index slab = 0; slab < slabs.steps; ++slab) {
      RankSlabs::Sizes sum;
      for (const Rank member : share(rank).group) {
        const RankSlabs::Sizes sizes = slabs.of(member).at(slab);
        sum.rows += sizes.rows, sum.sources += sizes.sources;
      }
      for (const Index rows : {sum.rows, sum.sources})
        bytes += double(
            all_reduce_bytes(share(rank).members(), Rank(share(rank).place), rows * softmax.heads, kReal));
    }
    return bytes;
  }

  /// Bytes that the rank sends where the members of its group put rows of features together (ColumnRows) and
  /// fetch the weights that they lack (WholeWeights).
  double whole_row_bytes(Rank rank, const AllSlabs& slabs) const {
    const auto rows = [&](Rank of) { return gathers() ? slabs.of(of).sources : slabs.of(of).rows; };
    double weights = 0, bytes = 0;
    const auto specs = model_.parameters();  // by layer
    for (const ParameterSpec& spec : specs[std::size_t(model_.constant_prefix())])
      if (spec.input_blocks > 0) weights += double(spec.input_blocks * share(rank).count() * spec.cols);
    for (const Rank member : share(rank).group)
      if (member != rank)
        bytes += kSizeBytes * double(slabs.steps) + 4 * rows(rank) +
                 double(kReal) * (rows(member) * double(share(rank).count()) + weights);
    return bytes;
  }

  Index held_by_columns(Rank rank, Index computed, Index rows, const FeatureShape& features) const {
    const Index members = share(rank).members(), arcs = gathers() ? members * (rows + computed) : 0;
    FeatureShape here = features;
    here.nonzeros_per_row *= double(share(rank).count()) / double(share(rank).whole);
    here.columns = share(rank).count();
    return feature_bytes(members * rows, here) + 16 * arcs + 8 * members * rows +
           kReal * computed * whole_layer(model_).spec().out * (2 * members - 1);
  }

  Index whole_weight_bytes(Rank rank) const {
    if (!share(rank).is_split()) return 0;
    Index weights = 0, split = 0;
    const auto parameters = model_.parameters();
    for (const auto& layer : parameters)
      for (const ParameterSpec& spec : layer) weights += spec.rows * spec.cols;
    for (const ParameterSpec& spec : parameters[std::size_t(model_.constant_prefix())])
      if (spec.input_blocks > 0) split += spec.rows * spec.cols;
    return kReal * (2 * weights + split);
  }

  const Model& model_;
  const std::vector<ColumnShare> shares_;  // (ranks)
  const bool are_inferred_;
};

}  // namespace

std::unique_ptr<SlabColumns> slabs_by_columns(const Model& model, std::vector<ColumnShare> shares) {
  return std::make_unique<SlabsByColumns>(model, std::move(shares));
}

}  // namespace atl
