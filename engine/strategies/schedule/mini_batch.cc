#include "strategies/schedule/mini_batch.h"

#include "strategies/exchange/figure_request.h"
#include "tensor/kernels.h"

namespace atl {
namespace {

constexpr RowRoute kSetupRoute{Lane::kBulk, Traffic::kSetup, Traffic::kSetup, Traffic::kSetup};

SlabOptions slab_options(const MiniBatchOptions& options) {
  return {
      .mapped = options.batches.mapped, .bytes = options.slab_bytes, .seed = options.batches.sampling.seed};
}

/// Options of exact inference. Layers after those that were computed once (`once`) need nothing from other
/// ranks.
SlabOptions inference_options(const MiniBatchOptions& options, const LayerRange& layers,
                              const DeviceFeatures* features, const ConstantRows* once) {
  SlabOptions slabs = slab_options(options);
  slabs.layers = layers;
  slabs.features = features;
  if (once != nullptr) slabs.input_rows = once->all(), slabs.mapped = true;
  return slabs;
}

std::unique_ptr<ConstantRows> rows_once(Context& ctx, Communicator& comm, const Model& model,
                                        Parameters& parameters, BatchGraph graph, const DrawnGraph& seen,
                                        const MiniBatchOptions& options) {
  graph.whole = seen;
  return std::make_unique<ConstantRows>(ctx, comm, model, parameters, graph, slab_options(options),
                                        options.once_folder);
}

}  // namespace

ConstantRows::ConstantRows(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
                           const BatchGraph& graph, const SlabOptions& options, const std::string& folder)
    : ctx_(ctx), copies_(ctx) {
  const int prefix = model.constant_prefix();
  for (int l = 0; l < int(model.layers.size()); ++l)
    ATOLL_CHECK(l < prefix || !model.spec(l).gathers, "layer {} reads neighbours in every step", l);
  SlabOptions of_constant = options;
  of_constant.layers = {0, prefix}, of_constant.route = kSetupRoute;
  if (!folder.empty()) {
    const Index rows = graph.owners.rows(comm.rank()), cols = model.spec(prefix - 1).out;
    file_.emplace(folder, rows * cols * Index(sizeof(Real)));
    of_constant.output = MatrixView(reinterpret_cast<Real*>(file_->data()), rows, cols);
  }
  LayerwiseInference inference(ctx, comm, model, parameters, graph, of_constant);
  all_ = inference.infer();
  memory_ = inference.take();  // empty, where the rows are in the file
}

ConstMatrixView ConstantRows::of(std::span<const VertexId> rows) {
  copies_.restart();
  if (chosen_.grow(Index(rows.size()), all_.cols, ctx_.device, true)) ++reallocations_;
  gather_rows(ctx_, all_, copies_.of(rows).data(), chosen_);
  return chosen_;
}

MiniBatch::MiniBatch(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
                     const BatchGraph& graph, const MiniBatchOptions& options,
                     std::unique_ptr<BatchHooks> hooks)
    : ctx_(ctx),
      comm_(comm),
      trace_(comm.trace()),
      parameters_(parameters),
      options_(options),
      runner_(ctx, model, comm.trace()),
      once_(!options.once || options.passes == Passes::kInference
                ? nullptr
                : rows_once(ctx, comm, model, parameters, graph, graph.training, options)),
      once_whole_(!options.once || (once_ && !options.inductive)
                      ? nullptr
                      : rows_once(ctx, comm, model, parameters, graph, graph.whole, options)),
      layers_{options.once ? model.constant_prefix() : 0, int(model.layers.size())},
      features_(options.once || options.passes == Passes::kInference
                    ? nullptr
                    : std::make_unique<DeviceFeatures>(ctx, graph, comm.rank(), options.gpu_features)),
      inference_(ctx, comm, model, parameters, graph,
                 inference_options(options, layers_, features_.get(),
                                   once_whole_ ? once_whole_.get() : once_.get())),
      pass_(ctx, model, layers_, options.batches.sampling.seed),
      memory_(ctx.device, model, layers_, options.passes, true),
      copies_(ctx),
      hooks_(std::move(hooks)) {
  if (options.passes == Passes::kInference) return;
  ctx.workspace->expect_batches();
  BatchSamplingOptions batches = options.batches;
  if (batches.features) batches.features->device = features_->places();
  batches.sampling.normalisation = model.needs.normalisation;
  batches.sampling.attention = model.needs.attention;
  if (hooks_) hooks_->prepare(batches);
  feed_.emplace(comm, graph,
                BatchFeedOptions{.batches = batches, .ahead = options.ahead, .epochs = options.epochs});
}

MiniBatch::~MiniBatch() {
  if (hooks_) hooks_->close();
}

void MiniBatch::start(std::int64_t step) {
  if (hooks_) {
    hooks_->close();
    feed_->stop();
    hooks_->start(step);
  }
  feed_->start(step);
}

std::vector<NamedMatrix> MiniBatch::state() {
  return hooks_ ? hooks_->state() : std::vector<NamedMatrix>();
}

void MiniBatch::report(FigureRequest& request) {
  request.offer<BatchCounts>([&] { return feed_ ? feed_->counts() : BatchCounts(); });
  if (hooks_) hooks_->report(request);
}

/// The run's steps are counted from 1, batches from 0.
void MiniBatch::train(std::int64_t step, TrainingStep& session) {
  if (trace_ != nullptr && (step - 1) % steps() == 0) trace_->begin_epoch((step - 1) / steps() + 1);
  if (!feed_->has(step - 1)) start(step - 1);
  const std::int64_t before = reallocations();
  enter(Work::kPrefetch);
  const StreamedBatch& made = feed_->next();
  pass_.begin(made.batch, step, true);
  if (options_.batches.weighs) pass_.share(comm_, made.shares);
  memory_.shape(pass_.rows());
  copies_.restart();
  const BatchStep at{step - 1, (step - 1) / steps() + 1, made, memory_};
  if (hooks_) hooks_->before_forward(at);
  const RangeInput input = input_of(made);
  runner_.forward(pass_, parameters_.present(), memory_, input);
  if (hooks_) hooks_->after_forward(at);
  enter(Work::kLoss);
  LossRows rows{feed_->owned_rows(made.batch), made.batch.total};
  rows.pairs = &made.pairs;
  session.loss(memory_.output(memory_.layers().end - 1), rows, memory_.d_output());
  if (made.batch.loss_weights.size() > 0)
    scale_rows(ctx_, copies_.of(made.batch.loss_weights.span()).data(), memory_.d_output());
  session.touches(0, made.touched.span());
  runner_.backward(pass_, parameters_.present(), memory_, input, {}, &session);
  enter(Work::kUpdate);
  session.update();
  enter(Work::kNone);
  if (made.grew || reallocations() > before) ++feed_->counts().reallocations;
}

RangeInput MiniBatch::input_of(const StreamedBatch& made) {
  if (once_) return {Rows(once_->of(feed_->owned_rows(made.batch))), {}};
  const SourcedRows::Input features = features_->of(made);
  return {features.rows, {}, features.self};
}

std::int64_t MiniBatch::reallocations() const {
  return memory_.reallocations() + ctx_.workspace->reallocations() +
         (once_ ? once_->reallocations() : features_->reallocations()) +
         (hooks_ ? hooks_->reallocations() : 0);
}

void MiniBatch::enter(Work work) const {
  if (trace_ != nullptr) trace_->enter(work, -1);
}

void MiniBatch::count_non_finite(const double* unless, double* by_layer) {
  for (int l = layers_.first; l < layers_.end; ++l)
    atl::count_non_finite(ctx_, memory_.output(l), by_layer + l, unless);
}

ScheduleBytes MiniBatch::bytes() const {
  ScheduleBytes b;
  memory_.count(b);
  inference_.count(b);
  if (features_) b.halo += features_->bytes();
  for (const ConstantRows* each : {once_.get(), once_whole_.get()})
    if (each != nullptr) b.activations += each->bytes();
  if (hooks_) hooks_->count(b);
  return b;
}

}  // namespace atl
