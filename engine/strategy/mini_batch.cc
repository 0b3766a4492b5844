#include "strategy/mini_batch.h"

#include "base/cpus.h"
#include "sampler/cache_rows.h"

namespace atl {
namespace {

constexpr std::int64_t kPresampledSteps = 32;

LayerRange all_layers(const Model& model) {
  return {0, int(model.layers.size())};
}

}  // namespace

MiniBatch::MiniBatch(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
                     const BatchGraph& graph, const MiniBatchOptions& options)
    : ctx_(ctx),
      comm_(comm),
      trace_(comm.trace()),
      model_(model),
      parameters_(parameters),
      graph_(graph),
      options_(options),
      runner_(ctx, model, comm.trace()),
      inference_(ctx, comm, model, parameters, graph,
                 {.mapped = options.mapped, .bytes = options.slab_bytes, .seed = options.seed}),
      pass_(ctx, model, all_layers(model), options.seed),
      memory_(ctx.device, model, all_layers(model), options.passes, true),
      input_(ctx) {
  if (options.passes == Passes::kInference) return;
  ctx.workspace->expect_batches();
  pool_ = std::make_unique<ThreadPool>(options.threads);
  sampling_ = {Device::kCpu, pool_.get(), &workspace_};
  structure_ = options.mapped ? mapped_structure(graph.training, *pool_)
                              : partitioned_structure(graph.training, graph.owners, comm, *pool_);
  sampler_.emplace(*structure_, SamplingOptions{.fanout = options.fanout,
                                                .replace = options.replace,
                                                .normalisation = model.needs.normalisation,
                                                .attention = model.needs.attention,
                                                .seed = options.seed});
  features_.emplace(sampling_, graph.owners, comm, graph.features, options.features);
  if (options.reduces && comm.size() > 1) shares_.emplace(graph.owners, comm);
  seeds_.emplace(graph.training_by_part, graph.training_rows, options.batch_size, options.seed);
  if (options.features.policy == CachePolicy::kDegree && options.features.cache_bytes > 0)
    cached_ = rows_by_degree(graph.training, graph.owners, comm, features_->cache_rows());
}

/// Steps of the run are counted from 1, batches from 0.
void MiniBatch::train(std::int64_t step, TrainingStep& session) {
  if (trace_ != nullptr && (step - 1) % steps() == 0) trace_->begin_epoch((step - 1) / steps() + 1);
  if (step - 1 != next_ || next_ == end_) start_stream(step - 1);
  const std::int64_t before = growths();
  tell(Work::kPrefetch);
  const StreamedBatch& made = *stream_->next();
  ++next_;
  count(made);
  pass_.begin(made.batch, step, true);
  if (shares_) pass_.share(comm_, made.shares);
  memory_.shape(pass_.rows());
  input_.restart();
  const RangeInput input{Rows(input_.of(ConstMatrixView(made.features))), {}};
  runner_.forward(pass_, parameters_.present(), memory_, input);
  tell(Work::kLoss);
  session.loss(memory_.output(memory_.layers().end - 1),
               {owned_rows(made.batch.seeds()), double(seeds_->size(step - 1))}, memory_.d_output());
  runner_.backward(pass_, parameters_.present(), memory_, input, {}, &session);
  tell(Work::kUpdate);
  session.update();
  tell(Work::kNone);
  if (made.grew || growths() > before) ++counts_.growths;
}

void MiniBatch::count(const StreamedBatch& made) {
  const BatchStream::Figures figures = stream_->figures();
  counts_ = {made.fetched.own, made.fetched.hits, made.fetched.fetched, counts_.growths,
             waited_before_ + figures.waited_seconds};
}

std::int64_t MiniBatch::growths() const {
  return memory_.growths() + ctx_.workspace->growths();
}

void MiniBatch::start_stream(std::int64_t step) {
  waited_before_ = counts_.waited_seconds;
  stream_.reset();
  end_ = options_.epochs * steps();
  if (step >= end_) end_ = step + steps();  // a benchmark goes on beyond the job's epochs
  stream_.emplace(first_fills_cache(),
                  BatchStream::Options{.first = step, .end = end_, .ahead = options_.ahead, .comm = &comm_});
  next_ = step;
}

/// By the stream's thread, which makes all calls of the features.
MakeBatch MiniBatch::first_fills_cache() {
  const bool presampled =
      options_.features.policy == CachePolicy::kPresampled && options_.features.cache_bytes > 0;
  return [this, presampled, is_first = true,
          make = batch_maker(*seeds_, *sampler_, &*features_, shares_ ? &*shares_ : nullptr, trace_)](
             std::int64_t step, StreamedBatch& into) mutable {
    if (std::exchange(is_first, false)) {
      if (!options_.cpus.empty()) keep_threads_on(*pool_, options_.cpus);
      if (presampled)
        cached_ = rows_by_presampling(*seeds_, *sampler_, graph_.owners, comm_.rank(), kPresampledSteps);
      features_->fill_cache(cached_);
    }
    make(step, into);
  };
}

std::span<const VertexId> MiniBatch::owned_rows(std::span<const VertexId> seeds) {
  rows_.assign(seeds.begin(), seeds.end());
  for (VertexId& row : rows_) row -= VertexId(graph_.owners.first_row(comm_.rank()));
  return rows_;
}

void MiniBatch::tell(Work work) const {
  if (trace_ != nullptr) trace_->enter(work, -1);
}

void MiniBatch::count_non_finite(const double* unless, double* by_layer) {
  for (int l = 0; l < memory_.layers().end; ++l)
    atl::count_non_finite(ctx_, memory_.output(l), by_layer + l, unless);
}

ScheduleBytes MiniBatch::bytes() const {
  ScheduleBytes b;
  memory_.count(b);
  inference_.count(b);
  return b;
}

}  // namespace atl
