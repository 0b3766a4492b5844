#include "plan/dry_input.h"

#include <algorithm>

#include "base/error.h"
#include "partition/server_graph.h"
#include "plan/rank_shape.h"
#include "train/labels.h"
#include "train/rank_data.h"

namespace atl {

DryInputs::DryInputs(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     std::vector<int> part_of_rank, int threads, std::vector<std::string> hosts)
    : job_(job),
      dataset_(dataset),
      prepared_(prepared),
      part_of_rank_(std::move(part_of_rank)),
      threads_(threads),
      hosts_(std::move(hosts)),
      servers_(job, prepared),
      model_(planned_model(job, feature_shape(job, dataset.meta()), dataset.meta().classes)) {
  if (job.training.setting == Setting::kInductive) marks_ = training_marks(dataset, job);
  if (strategy_of(job).server == nullptr) return;
  counted_ = loss_marks(dataset, job);
  count_batches();
}

/// Each batch needs a training vertex on at least one server.
void DryInputs::count_batches() {
  for (int part = 0; part < prepared_.parts();) {
    const ServerOptions server = strategy_of(job_).server(job_, part, 1);
    part = server.first_part + server.parts;
    const auto rows =
        prepared_.ids().subspan(std::size_t(prepared_.part_offsets()[std::size_t(server.first_part)]));
    const auto own = rows.first(std::size_t(prepared_.part_offsets()[std::size_t(part)] -
                                            prepared_.part_offsets()[std::size_t(server.first_part)]));
    most_batches_ =
        std::max<Index>(most_batches_, std::ranges::count_if(own, [&](VertexId id) { return counted_[id]; }));
  }
  const int batches = server_batches_of(job_);
  if (batches > 1 && most_batches_ > 0 && batches > most_batches_)
    fail("{}", too_many_batches(job_.strategy.kind, batches, most_batches_));
}

PartShare DryInputs::share(Rank rank) const {
  return share_of(job_, rank, PartRanks(part_of_rank_));
}

RankShape DryInputs::shape_of(Rank rank, const VertexMarks& induced_on) const {
  const PartRanks parts = share(rank).ranks;
  const int part = parts.part_of(rank);
  RankShape shape = rank_shape(prepared_, part, induced_on);
  if (const auto view = strategy_of(job_).view; view != nullptr) {
    const GraphNeeds& needs = model_.needs;
    const LocalizeOptions options{needs.normalisation, needs.attention, induced_on, parts};
    std::unique_ptr<const LocalGraph> graph;
    const auto cut = [&]() -> const LocalGraph& {
      if (graph == nullptr) graph = localize(prepared_, rank, options);
      return *graph;
    };
    shape.view = view({job_, prepared_, rank, cut, options})->sizes();
    if (graph != nullptr) add_slices(*graph, shape);
  }
  return on_ranks(std::move(shape), parts, ranks());
}

DryRunInput DryInputs::of(Rank rank) {
  const DatasetMeta& meta = dataset_.meta();
  DryRunInput in{job_,
                 feature_shape(job_, meta),
                 meta.classes,
                 meta.multi_label,
                 double(meta.vertices),
                 threads_,
                 {},
                 {},
                 {},
                 {},
                 hosts_};
  const bool by_server = strategy_of(job_).server != nullptr;
  if (by_server) {
    in.batches = servers_.of(rank, {marks_, counted_}, ranks());
    in.training = in.batches[servers_.largest()];
    if (in.batches.size() == 1) in.batches.clear();
  } else {
    in.training = shape_of(rank, marks_);
  }
  if (!marks_.empty() || by_server) in.full = shape_of(rank, {});
  if (const int beyond = by_server ? servers_.beyond() : 0; beyond > 0) {
    if (!marks_.empty()) in.beyond = shape_of(rank, marks_);
    add_beyond(in.beyond ? *in.beyond : *in.full, beyond, in.training);
  }
  const PartShare here = share(rank);
  for (RankShape* shape : {&in.training, in.full ? &*in.full : &in.training}) {
    shape->features = here.features, shape->answers = here.answers;
    shape->layers = layers_of(job_, model_, rank);
  }
  return in;
}

}  // namespace atl
