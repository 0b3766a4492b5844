#include "sampler/batch_sampling.h"

#include <algorithm>
#include <utility>

#include "base/cpus.h"
#include "sampler/row_cache.h"

namespace atl {

BatchSampling::BatchSampling(const BatchGraph& graph, Communicator& comm, BatchSamplingOptions options)
    : graph_(graph),
      comm_(comm),
      options_(std::move(options)),
      pool_(options_.threads),
      ctx_{Device::kCpu, &pool_, &workspace_},
      structure_(options_.mapped ? mapped_structure(graph.training, pool_)
                                 : partitioned_structure(graph.training, graph.owners, comm, pool_)),
      sets_(make_sets()),
      sampler_(*structure_, options_.sampling, sets_.get()),
      seeds_(graph.training_by_part, graph.training_rows, options_.batch_size, options_.sampling.seed) {
  if (options_.weighs) shares_.emplace(graph.owners, comm);
  if (graph.pairs != nullptr) pairs_.emplace(*graph.pairs, options_.negatives, options_.sampling.seed, comm);
  if (const HistoryDirectory* known = options_.history)
    sampler_.read_history(&history_.emplace(known->rows(), known->options(), comm).directory());
  if (options_.columns) columns_.emplace(comm, pool_, graph.columns.value(), *options_.columns);
  if (!options_.features) return;
  if (options_.masks == nullptr && options_.feature_rate < 1 && comm.size() > 1)
    options_.masks = &random_columns_.emplace(comm.size(), graph.features.cols(), options_.feature_rate,
                                              options_.sampling.seed);
  if (options_.finds_touched) touched_.emplace(comm, graph.features.cols());
  options_.features->sparse = graph.sparse, options_.features->entries = graph.entries;
  features_.emplace(ctx_, graph.owners, comm, graph.features, *options_.features);
  if (options_.features->policy == CachePolicy::kDegree && options_.features->cache_bytes > 0)
    cached_ = rows_by_degree(graph.training, graph.owners, comm, features_->cache_rows());
}

std::unique_ptr<StepSets> BatchSampling::make_sets() {
  if (options_.sets == nullptr) return nullptr;
  const SamplingOptions& sampling = options_.sampling;
  own_rows_ = mapped_structure(graph_.training, pool_);
  return options_.sets({.own_rows = *own_rows_,
                        .owners = graph_.owners,
                        .comm = comm_,
                        .ids = graph_.training.ids,
                        .training = graph_.training_rows,
                        .training_by_part = graph_.training_by_part,
                        .layers = int(sampling.fanout.size()),
                        .normalisation = sampling.normalisation,
                        .attention = sampling.attention,
                        .seed = sampling.seed,
                        .options = options_.set_options});
}

MakeBatch BatchSampling::maker(Trace* trace) {
  const auto there = [](auto& maker) { return maker ? &*maker : nullptr; };
  const BatchMakers makers{.features = there(features_),
                           .columns = there(columns_),
                           .touched = there(touched_),
                           .shares = there(shares_),
                           .pairs = there(pairs_),
                           .masks = options_.masks,
                           .history = there(history_),
                           .trace = trace};
  if (history_) history_->start(*options_.history);
  return
      [this, make = batch_maker(seeds(), sampler_, makers)](std::int64_t step, StreamedBatch& into) mutable {
        if (!std::exchange(has_begun_, true)) begin();
        make(step, into);
      };
}

/// Called by the thread that makes batches, because it makes all calls of the feature store.
void BatchSampling::begin() {
  if (!options_.cpus.empty()) keep_threads_on(pool_, options_.cpus);
  if (!features_) return;
  if (options_.features->policy == CachePolicy::kPresampled && options_.features->cache_bytes > 0)
    cached_ = rows_by_presampling(seeds(), sampler_, graph_.owners, comm_.rank(), options_.presampled,
                                  pairs_ ? &*pairs_ : nullptr);
  features_->fill_cache(cached_);
}

std::vector<std::unique_ptr<BatchSampling>> batch_samplings(const BatchGraph& graph, Communicator& comm,
                                                            const BatchSamplingOptions& options, int ahead) {
  const bool several =
      comm.size() == 1 && options.sets == nullptr;  // each maker would need its own copy of the sets
  const int makers = several ? std::min(options.threads, ahead) : 1;
  BatchSamplingOptions each = options;
  each.threads = options.threads / makers;
  std::vector<std::unique_ptr<BatchSampling>> all;
  for (int i = 0; i < makers; ++i) all.push_back(std::make_unique<BatchSampling>(graph, comm, each));
  return all;
}

std::vector<MakeBatch> makers_of(const std::vector<std::unique_ptr<BatchSampling>>& all, Trace* trace) {
  std::vector<MakeBatch> makers;
  for (const auto& each : all)
    makers.push_back(each->maker(std::exchange(trace, nullptr)));  // a timeline shows one maker
  return makers;
}

}  // namespace atl
