#include "plan/dry_batches.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/threads.h"
#include "job/strategies/minibatch.h"
#include "plan/batch_traffic.h"
#include "plan/dry_slabs.h"
#include "plan/dry_step.h"
#include "plan/dry_transport.h"
#include "sampler/feature_store.h"
#include "sampler/sampler.h"
#include "sampler/seeds.h"
#include "strategy/batch_pass.h"
#include "strategy/layer_runner.h"
#include "strategy/pass_memory.h"
#include "strategy/slab_inference.h"
#include "train/rank_data.h"

namespace atl {
namespace {

constexpr std::int64_t kBatches = 32;
constexpr Index kReal = sizeof(Real);

/// A rank's batches: drawn as in training, then gone through on kernels that compute nothing.
class RankBatches {
 public:
  RankBatches(const Job& job, const Dataset& dataset, const BatchSource& source, const Owners& owners,
              Rank rank, const std::vector<std::string>& hosts, int threads)
      : job_(job),
        owners_(owners),
        rank_(rank),
        features_(dataset.meta().features),
        model_(planned_model(job, {features_, FeatureForm::kDense, 0}, dataset.meta().classes)),
        counts_rows_(job.model.norm == Norm::kBatch && owners.ranks() > 1),
        recompute_(job.training.recompute == Recompute::kLayer),
        dry_pool_(ThreadPool::dry(threads)),
        ctx_{Device::kDry, dry_pool_.get(), &workspace_},
        comm_(make_dry_transport(rank, hosts)),
        parameters_(model_.parameters(), job.training.seed, placement_on(job, model_, rank), Device::kDry),
        step_(ctx_, comm_, job.training.optimizer, dataset.meta().multi_label, parameters_),
        structure_(source.structure(pool_)),
        sampler_(*structure_, {.fanout = minibatch_fanout(job),
                               .replace = job.strategy.options.flag("replace"),
                               .normalisation = model_.needs.normalisation,
                               .attention = model_.needs.attention,
                               .seed = job.training.seed}),
        pass_(ctx_, model_, layers(), job.training.seed),
        memory_(ctx_.device, model_, layers(), recompute_ ? Passes::kRecomputing : Passes::kTraining),
        runner_(ctx_, model_, nullptr),
        sizes_(model_.layers.size()) {}

  const Model& model() const { return model_; }
  /// Others' rows, by how many batches have read them.
  const std::map<VertexId, Index>& reads() const { return reads_; }

  void draw(std::int64_t draw, std::span<const VertexId> seeds, BatchTraffic& sent, double times) {
    sampler_.sample(draw, seeds, batch_);
    inputs_ = std::max(inputs_, Index(batch_.rows().size()));
    sent.add_drawing(batch_, rank_, model_.needs.normalisation, times);
    if (counts_rows_) sent.add_shares(batch_, rank_, times);
    Index others = 0;
    for (const VertexId row : batch_.rows()) {
      if (owners_.owns(rank_, row)) continue;
      ++reads_[row];
      ++others;
    }
    most_others_ = std::max(most_others_, others);
  }

  /// The batch that was drawn last. The room that a run's memory has above its largest batch isn't counted: nothing is ever written there.
  void train(std::int64_t step, double times) {
    pass_.begin(batch_, step, true);
    if (counts_rows_) pass_.share(comm_, shares());
    memory_.shape(pass_.rows());
    add_sizes(times);
    const Matrix features(Index(batch_.rows().size()), features_, ctx_.device);
    const RangeInput input{Rows(features.view()), {}};
    runner_.forward(pass_, parameters_.present(), memory_, input);
    step_.loss(memory_.output(layers().end - 1), {}, memory_.d_output());
    runner_.backward(pass_, parameters_.present(), memory_, input, {}, &step_);
    step_.update();
  }

  /// Over ranks, after each step but an epoch's last (EpochLoop): with what else they tell each other then.
  void sum_loss() {
    std::array<double, 4> sums{};
    comm_.all_reduce(Traffic::kStatistics, std::span<double>(sums));
  }

  /// What the batches that were trained took.
  void count(double times, DryBatches& out) {
    out.run.terms = step_.bytes_of_terms();
    out.run.values = Index(parameters_.values().size());
    out.run.trainable = Index(parameters_.gradients().size());
    out.work = batch_work(model_, sizes_, recompute_);
    memory_.count(out.run.schedule);
    out.run.workspace = workspace_.bytes();
    add_own(times, out.run);
    const Options& options = job_.strategy.options;
    const Index slots = options.integer("prefetch") + 1;
    // Others' rows arrive beside the batch, and as many leave.
    out.run.schedule.halo =
        slots * (batch_.bytes() + kReal * features_ * inputs_ * 5 / 4) +
        2 * kReal * features_ * most_others_ * 5 / 4 +
        cache_rows(owners_, options.integer("cache.bytes"), features_) * RowCache::row_bytes(features_);
  }

 private:
  LayerRange layers() const { return {0, int(model_.layers.size())}; }

  void add_sizes(double times) {
    int hop = 0;
    for (std::size_t l = 0; l < sizes_.size(); ++l) {
      const LayerRows& of = pass_.rows()[l];
      sizes_[l].outputs += times * double(of.outputs);
      sizes_[l].others += times * double(of.inputs - of.outputs);
      if (model_.layers[l]->gathers()) sizes_[l].arcs += times * double(batch_.block(hop++).arcs.arcs());
    }
  }
  const SharedRows& shares() {
    shares_.weights.resize(std::size_t(batch_.layers()) + 1);
    shares_.owned.assign(shares_.weights.size(), 0);
    for (int set = 0; set <= batch_.layers(); ++set)
      shares_.weights[std::size_t(set)].take(Index(BatchTraffic::row_set(batch_, set).size()));
    return shares_;
  }
  /// Gradients and sums, as the dry steps sent them.
  void add_own(double times, DryRun& run) const {
    for (int link = 0; link < kLinks; ++link)
      for (int p = 0; p < kTraffics; ++p) {
        const auto bytes = std::int64_t(times * double(comm_.ledger().bytes(Link(link), Traffic(p))));
        run.epoch[std::size_t(p)] += bytes;
        if (Link(link) == Link::kInter) run.epoch_between[std::size_t(p)] += bytes;
      }
  }

  const Job& job_;
  const Owners& owners_;
  Rank rank_;
  Index features_;
  Model model_;
  bool counts_rows_, recompute_;
  std::unique_ptr<ThreadPool> dry_pool_;
  Workspace workspace_{Device::kDry};
  Context ctx_;
  Communicator comm_;
  Parameters parameters_;
  DryStep step_;
  ThreadPool pool_{1};
  std::unique_ptr<Structure> structure_;
  Sampler sampler_;
  BatchPass pass_;
  PassMemory memory_;
  LayerRunner runner_;
  SharedRows shares_;
  Batch batch_;
  std::vector<LayerSize> sizes_;
  Index inputs_ = 0, most_others_ = 0;
  std::map<VertexId, Index> reads_;
};

/// One rank after the other.
class Batches {
 public:
  Batches(const Job& job, const Dataset& dataset, const BatchSource& source, int threads,
          const std::vector<std::string>& hosts)
      : job_(job),
        dataset_(dataset),
        source_(source),
        threads_(threads),
        ranks_(job.placement.ranks),
        hosts_(hosts.empty() ? std::vector<std::string>(std::size_t(ranks_), "here") : hosts),
        owners_(source.part_offsets(), ranks_),
        marks_(training_marks(dataset, job)),
        features_(dataset.meta().features),
        by_part_(std::size_t(owners_.parts())),
        sent_(job, source, owners_, features_) {
    for (Rank rank = 0; rank < ranks_; ++rank) {
      const TrainingRows rows = rows_of(rank);
      for (std::size_t i = 0; i < rows.by_part.size(); ++i)
        by_part_[std::size_t(rows.first_part) + i] = Index(rows.by_part[i].size());
    }
  }

  std::vector<DryBatches> run() {
    std::vector<DryBatches> all;
    for (Rank rank = 0; rank < ranks_; ++rank) all.push_back(run_rank(rank));
    for (Rank rank = 0; rank < ranks_; ++rank) add_sent(rank, all[std::size_t(rank)].run);
    return all;
  }

 private:
  bool trains(VertexId id) const {
    const bool labelled = dataset_.meta().multi_label || dataset_.labels()[std::size_t(id)] >= 0;
    return marks_[std::size_t(id)] != 0 && labelled;
  }
  TrainingRows rows_of(Rank rank) const {
    return training_rows(source_.part_offsets(), source_.ids(), owners_, rank,
                         [&](VertexId id) { return trains(id); });
  }

  DryBatches run_rank(Rank rank) {
    RankBatches batches(job_, dataset_, source_, owners_, rank, hosts_, threads_);
    DryBatches out;
    out.owned = owners_.rows(rank);
    const auto begins = source_.arc_offsets();
    out.arcs =
        begins[std::size_t(owners_.first_row(rank + 1))] - begins[std::size_t(owners_.first_row(rank))];
    out.pages = pages_of(out);
    Seeds seeds(by_part_, rows_of(rank), job_.strategy.options.integer("batchSize"), job_.training.seed);
    const std::int64_t drawn = std::min(kBatches, seeds.steps());
    const double times = double(seeds.steps()) / double(std::max<std::int64_t>(drawn, 1));
    std::vector<VertexId> rows;
    for (std::int64_t s = 0; s < drawn; ++s) {
      seeds.of_step(s, rows);
      batches.draw(s, rows, sent_, times);
      batches.train(s + 1, times);
      if (s + 1 < seeds.steps()) batches.sum_loss();
    }
    batches.count(times, out);
    sent_.add_features(batches.reads(), rank, drawn, times);
    plan_slabs(source_, owners_, rank, batches.model(), slab_bytes(job_.resources.memory), out.run);
    return out;
  }

  /// Of row begins, columns and weights of arcs.
  Index pages_of(const DryBatches& of) const {
    const bool all = job_.strategy.options.text("structure") == "mapped";
    const auto begins = source_.arc_offsets();
    const Index rows = all ? Index(begins.size()) - 1 : of.owned, arcs = all ? begins.back() : of.arcs;
    return 8 * (rows + 1) + (source_.weighted() ? 8 : 4) * arcs;
  }

  void add_sent(Rank rank, DryRun& run) const {
    for (Rank to = 0; to < ranks_; ++to)
      for (std::size_t p = 0; p < std::size_t(kTraffics); ++p) {
        const auto bytes = std::int64_t(sent_.sent(rank, to, p));
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
  std::vector<std::uint8_t> marks_;
  Index features_;
  std::vector<Index> by_part_;
  BatchTraffic sent_;
};

}  // namespace

std::vector<DryBatches> dry_batches(const Job& job, const Dataset& dataset, const BatchSource& source,
                                    int threads, const std::vector<std::string>& hosts) {
  return Batches(job, dataset, source, threads, hosts).run();
}

}  // namespace atl
