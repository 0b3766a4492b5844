#include "plan/dry_batches.h"

#include <algorithm>

#include "job/samplers.h"
#include "plan/dry_inference.h"
#include "plan/planned_seeds.h"
#include "plan/rank_batches.h"
#include "plan/strategy_plan.h"
#include "strategies/schedule/layerwise_inference.h"
#include "strategies/schedule/rows.h"
#include "train/rank_data.h"

namespace atl {
namespace {

/// Goes through the batches of one rank after the other.
class Batches {
 public:
  Batches(const Job& job, const Dataset& dataset, const BatchSource& source, int threads,
          const std::vector<std::string>& hosts, DryNotes* notes)
      : job_(job),
        dataset_(dataset),
        source_(source),
        threads_(threads),
        ranks_(job.placement.ranks),
        hosts_(hosts.empty() ? std::vector<std::string>(std::size_t(ranks_), "here") : hosts),
        owners_(source.part_offsets(), ranks_),
        shape_(feature_shape(job, dataset.meta())),
        features_(shape_.columns),
        sent_(job, dataset, source, owners_, shape_),
        seeds_(job, dataset, source, owners_),
        whole_model_(planned_model(job, shape_, dataset.meta().classes)),
        slabs_(dataset, source, owners_, whole_model_, slab_options()),
        notes_(notes) {
    plan_sets();
    if (!reads_neighbours(job)) once_.emplace(dataset, source, owners_, whole_model_, once_options());
    if (const auto options = job_history(job)) history_.emplace(source, owners_, *options);
  }

  std::vector<DryBatches> run() {
    std::vector<DryBatches> all;
    for (Rank rank = 0; history_ && rank < ranks_; ++rank) note_pushes(rank);
    note_touched();
    if (columns_of(job_, 0, features_))
      for (Rank rank = 0; rank < ranks_; ++rank) pushed_.push_back(draw_rank(rank));
    for (Rank rank = 0; rank < ranks_; ++rank) all.push_back(run_rank(rank));
    for (Rank rank = 0; rank < ranks_; ++rank) add_sent(rank, all[std::size_t(rank)]);
    return all;
  }

 private:
  SlabPlanOptions slab_options() const {
    SlabPlanOptions options{.bytes = slab_bytes(job_.resources.memory),
                            .mapped = job_sampling(job_, dataset_.meta().vertices).mapped,
                            .features = shape_};
    if (!reads_neighbours(job_)) options.layers.first = whole_model_.constant_prefix();
    std::vector<ColumnShare> shares;
    for (Rank rank = 0; rank < ranks_; ++rank)
      if (const auto share = columns_of(job_, rank, features_)) shares.push_back(*share);
    if (!shares.empty()) options.columns = strategy_plan_of(job_).slab_columns(whole_model_, shares);
    return options;
  }

  /// Options of the slabs in which constant layers are computed once.
  SlabPlanOptions once_options() const {
    SlabPlanOptions options = slab_options();
    options.layers = {0, whole_model_.constant_prefix()};
    options.in_file = !sums_folder(job_).empty();
    return options;
  }

  void plan_sets() {
    BatchSamplingOptions options = job_sampling(job_, dataset_.meta().vertices);
    if (options.sets == nullptr) return;
    const GraphNeeds needs = planned_model(job_, shape_, dataset_.meta().classes).needs;
    options.sampling.normalisation = needs.normalisation;
    options.sampling.attention = needs.attention;
    sets_ = std::make_unique<PlannedSets>(source_, options, seeds_.training(), seeds_.by_part());
  }

  std::int64_t steps() const {
    return sets_ && sets_->seeds() != nullptr ? sets_->seeds()->steps() : seeds_.steps();
  }
  void seeds_of_step(std::int64_t step, Rank rank, std::vector<VertexId>& rows) {
    if (sets_ && sets_->seeds() != nullptr)
      return OwnSeeds(*sets_->seeds(), owners_, rank).of_step(step, rows);
    seeds_.of_step(step, rank, rows);
  }

  SharedInPlan shared() {
    return {sets_.get(), history_ ? &*history_ : nullptr, touched_.empty() ? nullptr : &touched_};
  }

  /// Notes a rank's pushes of historical embeddings.
  void note_pushes(Rank rank) {
    RankBatches batches(job_, dataset_, source_, owners_, rank, hosts_, threads_, shared());
    std::vector<VertexId> rows;
    for (std::int64_t s = 0; s < std::min(kPlannedBatches, steps()); ++s) {
      seeds_of_step(s, rank, rows);
      batches.note_pushes(s, rows);
    }
  }

  /// Marks, for each drawn batch, the features that have a value in any rank's rows. Only for data where few
  /// features do.
  void note_touched() {
    const bool few = shape_.packed() && !columns_of(job_, 0, features_) &&
                     touches_few(job_, dataset_.meta().vertices, features_, shape_.nonzeros_per_row);
    if (!few) return;
    const std::int64_t drawn = std::min(kPlannedBatches, steps());
    std::vector<std::vector<std::uint8_t>> marks;
    marks.resize(std::size_t(drawn), std::vector<std::uint8_t>(std::size_t(features_), 0));
    std::vector<VertexId> rows;
    for (Rank rank = 0; rank < ranks_; ++rank) {
      RankBatches batches(job_, dataset_, source_, owners_, rank, hosts_, threads_, shared());
      for (std::int64_t s = 0; s < drawn; ++s) {
        seeds_of_step(s, rank, rows);
        batches.note_touched(s, rows, marks[std::size_t(s)]);
      }
      sent_.add_touched(rank, features_, double(steps()));
    }
    for (const auto& of_step : marks) {
      auto& features = touched_.emplace_back();
      for (VertexId c = 0; c < VertexId(features_); ++c)
        if (of_step[std::size_t(c)] != 0) features.push_back(c);
    }
  }

  /// Draws the rank's batches. Returns each batch's sizes, which the rank tells its group.
  DrawnSizes draw_rank(Rank rank) {
    RankBatches batches(job_, dataset_, source_, owners_, rank, hosts_, threads_, shared());
    DrawnSizes all;
    std::vector<VertexId> rows;
    for (std::int64_t s = 0; s < std::min(kPlannedBatches, steps()); ++s) {
      seeds_of_step(s, rank, rows);
      all.push_back(batches.pushed(s, rows));
    }
    return all;
  }

  DryBatches run_rank(Rank rank) {
    RankBatches batches(job_, dataset_, source_, owners_, rank, hosts_, threads_, shared(), notes_);
    DryBatches out;
    out.steps = steps();
    out.owned = owners_.rows(rank);
    const auto begins = source_.arc_offsets();
    out.arcs =
        begins[std::size_t(owners_.first_row(rank + 1))] - begins[std::size_t(owners_.first_row(rank))];
    out.pages = pages_of(out);
    const std::int64_t drawn = std::min(kPlannedBatches, steps());
    const double times = double(steps()) / double(std::max<std::int64_t>(drawn, 1));
    std::vector<const DrawnSizes*> of_group;
    if (batches.columns())
      for (const Rank member : batches.columns()->group) of_group.push_back(&pushed_[std::size_t(member)]);
    std::vector<VertexId> rows;
    for (std::int64_t s = 0; s < drawn; ++s) {
      seeds_of_step(s, rank, rows);
      add_pairs(s, rank, times, out.run);
      batches.draw(s, rows, sent_, times);
      if (sets_ && rank == 0) sent_.add_sets(*sets_, times);
      if (notes_ != nullptr) notes_->begin_step(s + 1);
      batches.train(s + 1, of_group, times);
      if (s + 1 < steps()) batches.sum_loss();
    }
    if (notes_ != nullptr) notes_->end();
    batches.count(times, out);
    out.pairs = seeds_.pair_sizes()[std::size_t(rank)];
    if (job_.task != Task::kLinkPrediction)
      out.scored =
          split_counts(job_, dataset_,
                       source_.ids().subspan(std::size_t(owners_.first_row(rank)), std::size_t(out.owned)));
    if (batches.columns()) {
      out.by_rows = times * batches.bytes_by_rows(sent_);
    } else if (reads_neighbours(job_)) {
      sent_.add_features(batches.reads(), rank, drawn, times);
    }
    if (const auto beside = strategy_plan_of(job_).beside; beside != nullptr)
      beside({job_, source_, owners_, rank, shape_, dataset_.meta().classes}, sent_, out);
    slabs_.add(rank, out.run);
    if (once_) {
      DryRun computing;
      once_->add(rank, computing);
      out.run.once = computing.inference;
    }
    out.evaluation = slabs_.parts(rank);
    return out;
  }

  /// Adds the requests for rows of the pairs' ends twice: once for the batch, once for the loss.
  void add_pairs(std::int64_t step, Rank rank, double times, DryRun& run) {
    if (job_.task != Task::kLinkPrediction) return;
    const WantedRows& wanted = seeds_.wanted(step);
    for (Rank to = 0; to < ranks_; ++to)
      if (to != rank) {
        const PairBytesSent sent = pair_bytes(wanted, rank, to, job_.model.hidden);
        const double asking = pair_bytes(wanted, rank, to, 0).rows;
        const bool between = hosts_[std::size_t(rank)] != hosts_[std::size_t(to)];
        enter_pairs({times * (sent.rows + asking), times * sent.gradients}, between, run);
      }
  }

  /// Bytes of mapped row begins, columns and weights. Arcs are mapped a second time where training draws from
  /// rows in the order of ids.
  Index pages_of(const DryBatches& of) const {
    const bool all = job_.strategy.options.text("structure") == "mapped";
    const auto begins = source_.arc_offsets();
    const Index rows = all ? Index(begins.size()) - 1 : of.owned, arcs = all ? begins.back() : of.arcs;
    const Index times = graph_transforms(job_).by_id ? 2 : 1;
    return 8 * (rows + 1) + times * (source_.weighted() ? 8 : 4) * arcs;
  }

  void add_sent(Rank rank, DryBatches& out) const {
    DryRun& run = out.run;
    out.rounds = sent_.rounds();
    out.to.resize(std::size_t(ranks_));
    for (Rank to = 0; to < ranks_; ++to)
      for (std::size_t p = 0; p < std::size_t(kTraffics); ++p) {
        const auto bytes = std::int64_t(sent_.sent(rank, to, p));
        out.to[std::size_t(to)][p] += bytes;
        run.epoch[p] += bytes;
        if (hosts_[std::size_t(rank)] != hosts_[std::size_t(to)]) run.epoch_between[p] += bytes;
      }
  }

  const Job& job_;
  const Dataset& dataset_;
  const BatchSource& source_;
  int threads_, ranks_;
  std::vector<std::string> hosts_;
  Owners owners_;
  FeatureShape shape_;
  Index features_;  // columns
  BatchTraffic sent_;
  PlannedSeeds seeds_;
  Model whole_model_;
  SlabPlan slabs_;
  std::optional<SlabPlan> once_;                // slabs of constant layers; none: batches read neighbours
  DryNotes* notes_;                             // null: nobody observes
  std::unique_ptr<PlannedSets> sets_;           // null: the sampler draws each vertex's neighbours
  std::optional<PlannedHistory> history_;       // none: no historical embeddings
  std::vector<std::vector<VertexId>> touched_;  // (drawn batches); empty: no rank reports touched features
  std::vector<DrawnSizes> pushed_;              // by rank, where features are held by columns
};

}  // namespace

std::vector<DryBatches> dry_batches(const Job& job, const Dataset& dataset, const BatchSource& source,
                                    int threads, const std::vector<std::string>& hosts, DryNotes* notes) {
  return Batches(job, dataset, source, threads, hosts, notes).run();
}

}  // namespace atl
