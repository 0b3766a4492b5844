#include "plan/dry_batches.h"

#include <algorithm>
#include <map>

#include "base/threads.h"
#include "job/strategies/minibatch.h"
#include "plan/batch_traffic.h"
#include "plan/dry_step.h"
#include "plan/dry_transport.h"
#include "sampler/sampler.h"
#include "sampler/seeds.h"
#include "strategy/slab_inference.h"
#include "train/rank_data.h"

namespace atl {
namespace {

constexpr std::int64_t kBatches = 32;
constexpr Index kReal = sizeof(Real);

/// One rank after the other.
class Batches {
 public:
  Batches(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, int threads,
          const std::vector<std::string>& hosts)
      : job_(job),
        options_(job.strategy.options),
        dataset_(dataset),
        prepared_(prepared),
        threads_(threads),
        ranks_(job.placement.ranks),
        hosts_(hosts.empty() ? std::vector<std::string>(std::size_t(ranks_), "here") : hosts),
        owners_(prepared.part_offsets(), ranks_),
        marks_(training_marks(dataset, job)),
        features_(dataset.meta().features),
        sent_(job, prepared, owners_, features_) {
    for (int part = 0; part < prepared.parts(); ++part) by_part_.push_back(0);
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
    return training_rows(prepared_, owners_, rank, [&](VertexId id) { return trains(id); });
  }

  DryBatches run_rank(Rank rank) {
    const auto dry_pool = ThreadPool::dry(threads_);
    Workspace workspace(Device::kDry);
    Context ctx{Device::kDry, dry_pool.get(), &workspace};
    Communicator comm(make_dry_transport(rank, hosts_));
    const DatasetMeta& meta = dataset_.meta();
    const Model model = planned_model(job_, {features_, FeatureForm::kDense, 0}, meta.classes);
    Parameters parameters(model.parameters(), job_.training.seed, placement_on(job_, rank, ranks_),
                          ctx.device);
    DryStep step(ctx, comm, job_.training.optimizer, meta.multi_label, parameters);
    DryBatches out;
    out.run.terms = step.bytes_of_terms();
    out.run.values = Index(parameters.values().size());
    out.run.trainable = Index(parameters.gradients().size());
    const CsrView& whole = prepared_.graph();
    out.owned = owners_.rows(rank);
    out.arcs = whole.offsets[owners_.first_row(rank + 1)] - whole.offsets[owners_.first_row(rank)];

    const bool recompute = job_.training.recompute == Recompute::kLayer;
    const LayerRange layers{0, int(model.layers.size())};
    ThreadPool pool(1);
    const auto structure = mapped_structure(
        drawn_graph(prepared_, job_.training.setting == Setting::kInductive, graph_transforms(job_).by_id),
        pool);
    Sampler sampler(*structure, {.fanout = minibatch_fanout(job_),
                                 .replace = options_.flag("replace"),
                                 .normalisation = model.needs.normalisation,
                                 .attention = model.needs.attention,
                                 .seed = job_.training.seed});
    Seeds seeds(by_part_, rows_of(rank), options_.integer("batchSize"), job_.training.seed);
    BatchPass pass(ctx, model, layers, job_.training.seed);
    PassMemory memory(ctx.device, model, layers, recompute ? Passes::kRecomputing : Passes::kTraining);
    const LayerRunner runner(ctx, model, nullptr);
    const std::int64_t drawn = std::min(kBatches, seeds.steps());
    const double times = double(seeds.steps()) / double(std::max<std::int64_t>(drawn, 1));
    std::vector<LayerSize> sizes(model.layers.size());
    std::vector<VertexId> rows;
    Batch batch;
    const bool counts_rows = job_.model.norm == Norm::kBatch && ranks_ > 1;
    SharedRows shares;
    Index inputs = 0, most_others = 0;
    std::map<VertexId, Index> reads;  // of others' rows, by batches that read them
    for (std::int64_t s = 0; s < drawn; ++s) {
      seeds.of_step(s, rows);
      sampler.sample(s, rows, batch);
      inputs = std::max(inputs, Index(batch.rows().size()));
      sent_.add_drawing(batch, rank, model.needs.normalisation, times);
      if (counts_rows) sent_.add_shares(batch, rank, times);
      Index others = 0;
      for (const VertexId row : batch.rows()) {
        if (owners_.owns(rank, row)) continue;
        ++reads[row];
        ++others;
      }
      most_others = std::max(most_others, others);
      pass.begin(batch, s + 1, true);
      if (counts_rows) pass.share(comm, sizes_of(batch, shares));
      memory.shape(pass.rows());
      int hop = 0;
      for (std::size_t l = 0; l < sizes.size(); ++l) {
        const LayerRows& of = pass.rows()[l];
        sizes[l].outputs += times * double(of.outputs);
        sizes[l].others += times * double(of.inputs - of.outputs);
        if (model.layers[l]->gathers()) sizes[l].arcs += times * double(batch.block(hop++).arcs.arcs());
      }
      Matrix features(Index(batch.rows().size()), features_, ctx.device);
      const RangeInput input{Rows(std::as_const(features).view()), {}};
      runner.forward(pass, parameters.present(), memory, input);
      step.loss(memory.output(layers.end - 1), {}, memory.d_output());
      runner.backward(pass, parameters.present(), memory, input, {}, &step);
      step.update();
    }
    out.work = batch_work(model, sizes, recompute);
    memory.count(out.run.schedule);
    out.run.workspace = workspace.bytes();
    add_own(comm.ledger(), times, out.run);
    sent_.add_features(reads, rank, drawn, times);
    const Index slots = options_.integer("prefetch") + 1;
    // Others' rows arrive beside the batch, and as many leave.
    out.run.schedule.halo = slots * (batch.bytes() + kReal * features_ * inputs * 5 / 4) +
                            2 * kReal * features_ * most_others * 5 / 4 + options_.integer("cache.bytes");
    plan_inference(rank, model, ctx, out.run);
    return out;
  }

  static const SharedRows& sizes_of(const Batch& batch, SharedRows& shares) {
    shares.weights.resize(std::size_t(batch.layers()) + 1);
    shares.owned.assign(shares.weights.size(), 0);
    for (int set = 0; set <= batch.layers(); ++set)
      shares.weights[std::size_t(set)].take(Index(BatchTraffic::row_set(batch, set).size()));
    return shares;
  }
  /// Gradients and sums, as the dry steps sent them.
  void add_own(const Ledger& ledger, double times, DryRun& run) const {
    for (int link = 0; link < kLinks; ++link)
      for (int p = 0; p < kTraffics; ++p) {
        const auto bytes = std::int64_t(times * double(ledger.bytes(Link(link), Traffic(p))));
        run.epoch[std::size_t(p)] += bytes;
        if (Link(link) == Link::kInter) run.epoch_between[std::size_t(p)] += bytes;
      }
  }

  void add_sent(Rank rank, DryRun& run) const {
    for (Rank to = 0; to < ranks_; ++to)
      for (std::size_t p = 0; p < std::size_t(kTraffics); ++p) {
        const auto bytes = std::int64_t(sent_.sent(rank, to, p));
        run.epoch[p] += bytes;
        if (hosts_[std::size_t(rank)] != hosts_[std::size_t(to)]) run.epoch_between[p] += bytes;
      }
  }

  /// SlabInference's: outputs of two layers and the logits of own rows, and one slab's rows. Of evaluation's bytes, rows that others
  /// read, each slab by itself.
  void plan_inference(Rank rank, const Model& model, Context& ctx, DryRun& run) const {
    const Index owned = owners_.rows(rank), first_row = owners_.first_row(rank);
    const CsrView& graph = prepared_.graph();
    const std::vector<Index> begins = slab_begins(model, graph, owners_, rank, kSlabBytes);
    std::vector<Index> read(std::size_t(graph.rows), -1);  // the last slab that did
    Index others = 0, most_rows = 0, most_sources = 0, most_others = 0;
    for (Index slab = 0; slab + 1 < Index(begins.size()); ++slab) {
      const Index begin = begins[std::size_t(slab)], end = begins[std::size_t(slab) + 1];
      Index sources = end - begin;
      const Index others_before = others;
      for (Index e = graph.offsets[first_row + begin]; e < graph.offsets[first_row + end]; ++e) {
        const VertexId source = graph.columns[e];
        if (std::exchange(read[std::size_t(source)], slab) == slab) continue;
        sources += source < first_row + begin || source >= first_row + end;
        others += owners_.owns(rank, source) ? 0 : 1;
      }
      most_rows = std::max(most_rows, end - begin);
      most_others = std::max(most_others, others - others_before);
      most_sources = std::max(most_sources, sources);
    }
    Index widest[2] = {0, 0}, slab = 0, gathered = 0, number = 0;
    for (const LayerRange& layers : slab_segments(model)) {
      const Layer& first = *model.layers[std::size_t(layers.first)];
      const bool is_last = layers.end == int(model.layers.size());
      Index& out = widest[number++ % 2];
      if (!is_last) out = std::max(out, model.layers[std::size_t(layers.end - 1)]->out());
      std::vector<LayerRows> rows(std::size_t(layers.end - layers.first),
                                  {most_rows, most_rows, most_rows, {most_rows}});
      if (first.gathers()) {
        rows.front() = {most_sources, most_rows, most_rows, {most_sources}};
        slab = std::max(slab, first.in());
        gathered += first.in();
      }
      PassMemory memory(ctx.device, model, layers, Passes::kInference);
      memory.shape(rows);
      memory.count(run.inference);
    }
    run.inference.activations += kReal * owned * (widest[0] + widest[1] + model.layers.back()->out());
    run.inference.halo = kReal * slab * (most_sources + 2 * most_others);
    if (ranks_ > 1) run.evaluation[std::size_t(Traffic::kEvaluation)] = others * gathered * kReal;
  }

  const Job& job_;
  const Options& options_;
  const Dataset& dataset_;
  const PreparedGraph& prepared_;
  int threads_, ranks_;
  std::vector<std::string> hosts_;
  Owners owners_;
  std::vector<std::uint8_t> marks_;
  Index features_;
  std::vector<Index> by_part_;
  BatchTraffic sent_;
};

}  // namespace

std::vector<DryBatches> dry_batches(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                                    int threads, const std::vector<std::string>& hosts) {
  return Batches(job, dataset, prepared, threads, hosts).run();
}

}  // namespace atl
