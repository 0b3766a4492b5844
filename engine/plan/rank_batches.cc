#include "plan/rank_batches.h"

#include <algorithm>
#include <array>

#include "base/threads.h"
#include "job/samplers.h"
#include "job/strategies.h"
#include "plan/dry_step.h"
#include "plan/memory.h"
#include "plan/strategy_plan.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

SamplingOptions sampling_of(const Job& job, const Owners& owners, const Model& model) {
  SamplingOptions sampling = job_sampling(job, owners.first_row(owners.ranks())).sampling;
  sampling.normalisation = model.needs.normalisation;
  sampling.attention = model.needs.attention;
  return sampling;
}

}  // namespace

RankBatches::RankBatches(const Job& job, const Dataset& dataset, const BatchSource& source,
                         const Owners& owners, Rank rank, const std::vector<std::string>& hosts, int threads,
                         const SharedInPlan& shared, DryNotes* notes)
    : job_(job),
      dataset_(dataset),
      source_(source),
      owners_(owners),
      rank_(rank),
      features_(feature_shape(job, dataset.meta())),
      of_batch_(features_),
      feature_messages_(dataset, source, features_, job.wire() == Precision::kBFloat16),
      columns_(columns_of(job, rank, features_.columns)),
      model_(planned_model(job, features_on(job, rank, features_), dataset.meta().classes)),
      share_(model_share_of(job, model_, rank)),
      counts_rows_(job.model.norm == Norm::kBatch && owners.ranks() > 1),
      recompute_(job.training.recompute == Recompute::kLayer),
      once_(!reads_neighbours(job)),
      dry_pool_(ThreadPool::dry(threads)),
      ctx_{Device::kDry, dry_pool_.get(), &workspace_},
      comm_(notes != nullptr ? Communicator(notes->begin(rank, trace_), trace_)
                             : Communicator(make_dry_transport(rank, hosts))),
      parameters_(model_.parameters(), job.training.seed, share_.places, Device::kDry),
      step_(ctx_, comm_, job.training.optimizer, dataset.meta().multi_label, parameters_),
      structure_(source.structure(pool_)),
      sets_(shared.sets),
      touched_(shared.touched),
      pushed_embeddings_(shared.history),
      sampler_(*structure_, sampling_of(job, owners, model_), sets_),
      pass_(ctx_, model_, layers(), job.training.seed),
      memory_(ctx_.device, model_, layers(), recompute_ ? Passes::kRecomputing : Passes::kTraining),
      runner_(ctx_, model_, nullptr),
      sizes_(model_.layers.size()) {
  ctx_.values = model_.values;
  if (once_) of_batch_ = {.columns = columns_of_batch()};
  if (notes != nullptr) ctx_.count = notes->counted();
  if (pushed_embeddings_ != nullptr) {
    const HistoryRows& rows = pushed_embeddings_->rows(rank);
    known_.emplace(rows, pushed_embeddings_->options());
    sampler_.read_history(&*known_);
    history_.emplace(ctx_, comm_, model_, rows, pushed_embeddings_->options(), job.wire());
  }
  if (!columns_) return;
  const auto make = strategy_plan_of(job).columns;
  ATOLL_CHECK(make != nullptr, "strategy {} holds features by columns and plans none",
              job.strategy.row->kind);
  by_columns_ = make({job, ctx_, comm_, model_, runner_, *columns_, features_on(job, rank, features_),
                      memory_.passes(), counts_rows_, share_.in_flight});
}

std::vector<std::int64_t> RankBatches::pushed(std::int64_t draw, std::span<const VertexId> seeds) {
  sampler_.sample(draw, seeds, made_.batch);
  return by_columns_->sizes_of(made_.batch);
}

void RankBatches::note_pushes(std::int64_t draw, std::span<const VertexId> seeds) {
  sampler_.sample(draw, seeds, made_.batch);
  pushed_embeddings_->note(rank_, made_.batch);
}

void RankBatches::note_touched(std::int64_t draw, std::span<const VertexId> seeds,
                               std::vector<std::uint8_t>& marks) {
  sampler_.sample(draw, seeds, made_.batch);
  std::vector<VertexId> ids;
  for (const VertexId row : made_.batch.rows()) ids.push_back(source_.ids()[std::size_t(row)]);
  for (const VertexId feature : dataset_.read_sparse_features(ids).columns) marks[std::size_t(feature)] = 1;
}

void RankBatches::draw(std::int64_t draw, std::span<const VertexId> seeds, BatchTraffic& sent, double times) {
  const Batch& batch = made_.batch;
  if (known_) known_->begin(draw);
  sampler_.sample(draw, seeds, made_.batch);
  if (known_) {
    pushed_embeddings_->pushes(rank_, draw, batch, made_.pushes);
    known_->add(made_.pushes.arriving);
    sent.add_pushes(made_.pushes.leaving, rank_, times);
  }
  inputs_ = std::max(inputs_, Index(batch.rows().size()));
  read_rows_ += times * double(batch.rows().size());
  for (int hop = 0; hop < batch.layers(); ++hop) drawn_arcs_ += times * double(batch.block(hop).arcs.arcs());
  looked_at_ += times * double(sampler_.arcs_looked_at(batch, source_.arc_offsets()));
  const bool weighs = sets_ != nullptr && batch.layers() > 0 && sets_->of_layer(0).weighs();
  sent.add_drawing(batch, rank_, {model_.needs.normalisation, weighs}, times);
  if (counts_rows_) sent.add_shares(batch, rank_, times);
  if (!by_columns_ && !once_) sent.add_fetching(batch, rank_, times);
  if (by_columns_) pushed_ += by_columns_->add_sent(batch, sent, times);
  double others = 0, all = 0;
  for (const VertexId row : batch.rows()) {
    const double bytes = feature_messages_.bytes(row);
    all += bytes;
    if (owners_.owns(rank_, row)) continue;
    ++reads_[row];
    others += bytes;
  }
  most_others_ = std::max(most_others_, others);
  set_entries(all, double(batch.rows().size()));
}

/// Sets the batch's mean entries per row from the bytes of its own rows, because its rows may have more
/// entries than the data set's mean.
void RankBatches::set_entries(double bytes, double rows) {
  if (once_ || features_.held != FeatureForm::kSparse || rows == 0) return;
  const double mean = row_bytes_of(job_, features_).message;
  of_batch_ = features_;
  if (mean > 4) of_batch_.nonzeros_per_row *= (bytes / rows - 4) / (mean - 4);
  most_entries_ = std::max(most_entries_, of_batch_.nonzeros_per_row);
}

void RankBatches::train(std::int64_t step, const std::vector<const DrawnSizes*>& drawn, double times) {
  if (counts_rows_) share_rows();
  if (by_columns_) {
    by_columns_->train(made_, step, drawn, parameters_.present(), step_);
    add_sizes(times, by_columns_->sizes());
    inputs_ = std::max(inputs_, made_.group.all_rows());
    whole_rows_ += times * double(by_columns_->whole_rows());
    return;
  }
  pass_.begin(made_.batch, step, true);
  if (counts_rows_) pass_.share(comm_, made_.shares);
  memory_.shape(pass_.rows());
  add_sizes(times, sizes_of_pass());
  dry_features_.shape(Index(made_.batch.rows().size()), pass_.rows().front().destinations, of_batch_,
                      made_.features);
  const RangeInput input{made_.features.rows(), {}, made_.features.self()};
  if (history_) {
    history_->begin(step - 1);
    history_->read(made_.batch, memory_);
  }
  runner_.forward(pass_, parameters_.present(), memory_, input);
  if (history_) history_->push(made_.pushes, memory_);
  step_.loss(memory_.output(layers().end - 1), {}, memory_.d_output());
  if (touched_ != nullptr) step_.touches(0, (*touched_)[std::size_t(step - 1)]);
  runner_.backward(pass_, parameters_.present(), memory_, input, {}, &step_);
  step_.update();
}

void RankBatches::sum_loss() {
  std::array<double, 4> sums{};
  comm_.all_reduce(Traffic::kStatistics, std::span<double>(sums));
}

void RankBatches::count(double times, DryBatches& out) {
  out.run.terms = step_.bytes_of_terms();
  out.run.values = Index(parameters_.values().size());
  out.run.trainable = Index(parameters_.gradients().size());
  out.work =
      batch_work(model_, sizes_, recompute_, by_columns_ ? by_columns_->whole_layer() : layers().first);
  memory_.count(out.run.schedule);
  if (history_) {
    history_->count(out.run.schedule);
    for (const NamedMatrix& each : history_->state())
      out.run.state += each.values.rows * each.values.cols * kReal;
  }
  if (by_columns_) by_columns_->count(out.run.trainable, out.run.schedule, out.run.state);
  out.whole_rows = whole_rows_, out.pushed = pushed_;
  out.drawn_arcs = drawn_arcs_, out.looked_at = looked_at_, out.read_rows = read_rows_;
  out.run.workspace = workspace_.bytes();
  add_own(times, out.run);
  const Index slots = job_.strategy.options.integer("prefetch") + share_.in_flight,
              cached = cache_bytes(job_);
  if (once_) {
    const Index graphs = job_.training.setting == Setting::kInductive ? 2 : 1;
    out.run.schedule.halo += slots * made_.batch.bytes();
    out.sums = kReal * columns_of_batch() * graphs * owners_.rows(rank_);
    if (sums_folder(job_).empty()) out.run.schedule.activations += out.sums;
    out.run.schedule.activations += kReal * columns_of_batch() * inputs_;  // ConstantRows
    return;
  }
  FeatureShape most = features_;
  most.nonzeros_per_row = std::max(most.nonzeros_per_row, most_entries_);
  out.run.schedule.halo += slots * (made_.batch.bytes() + made_.group.bytes() + made_.pushes.bytes() +
                                    feature_bytes(inputs_, features_on(job_, rank_, most)) * 5 / 4);
  // The rows of other ranks arrive in a buffer beside the batch, and as many own rows leave from another.
  const RowBytes row = row_bytes_of(job_, features_);
  if (!by_columns_) out.run.schedule.halo += Index(2 * most_others_) * 5 / 4;
  if (cached > 0)
    out.run.schedule.halo += Index(double(cache_rows(owners_, cached, row)) * row.cells_per_row *
                                   double(RowCache::bytes_of_cell(row.cell)));
}

std::vector<LayerSize> RankBatches::sizes_of_pass() const {
  std::vector<LayerSize> sizes(sizes_.size());
  int hop = 0;
  for (auto l = std::size_t(layers().first); l < sizes.size(); ++l) {
    const LayerRows& of = pass_.rows()[l - std::size_t(layers().first)];
    sizes[l] = {double(of.outputs), double(of.inputs - of.outputs), 0};
    if (model_.layers[l]->spec().gathers) sizes[l].arcs = double(made_.batch.block(hop++).arcs.arcs());
  }
  return sizes;
}

void RankBatches::add_sizes(double times, const std::vector<LayerSize>& sizes) {
  for (std::size_t l = 0; l < sizes_.size(); ++l) {
    sizes_[l].outputs += times * sizes[l].outputs;
    sizes_[l].others += times * sizes[l].others;
    sizes_[l].arcs += times * sizes[l].arcs;
  }
}

void RankBatches::share_rows() {
  SharedRows& shares = made_.shares;
  shares.weights.resize(std::size_t(made_.batch.layers()) + 1);
  shares.owned.clear();
  for (int set = 0; set <= made_.batch.layers(); ++set) {
    const auto rows = Index(BatchTraffic::row_set(made_.batch, set).size());
    shares.weights[std::size_t(set)].take(rows);
    shares.owned.push_back(double(rows));  // with 0 rows a pass would leave out some work
  }
}

/// Adds the bytes of gradients and of loss sums that the dry steps sent.
void RankBatches::add_own(double times, DryRun& run) const {
  for (int link = 0; link < kLinks; ++link)
    for (int p = 0; p < kTraffics; ++p) {
      const auto bytes = std::int64_t(times * double(comm_.ledger().bytes(Link(link), Traffic(p))));
      run.epoch[std::size_t(p)] += bytes;
      if (Link(link) == Link::kInter) run.epoch_between[std::size_t(p)] += bytes;
    }
}

PlannedHistory::PlannedHistory(const BatchSource& source, const Owners& owners, const HistoryOptions& options)
    : options_(options), noted_(std::size_t(owners.ranks())) {
  ThreadPool pool(1);
  const auto graph = source.structure(pool);
  std::vector<std::vector<VertexId>> kept;
  for (Rank rank = 0; rank < owners.ranks(); ++rank)
    kept.push_back(most_read_rows(*graph, owners, rank, options.rows));
  for (Rank rank = 0; rank < owners.ranks(); ++rank) {
    std::vector<std::span<const VertexId>> wanted;
    const auto first = VertexId(owners.first_row(rank)), end = VertexId(first + owners.rows(rank));
    for (const auto& of : kept)
      wanted.emplace_back(std::ranges::lower_bound(of, first), std::ranges::lower_bound(of, end));
    rows_.push_back(std::make_unique<HistoryRows>(owners, rank, kept[std::size_t(rank)], wanted));
  }
}

void PlannedHistory::note(Rank rank, const Batch& batch) {
  list_pushed(rows(rank), batch, options_.layers, leaving_, places_);
  const auto places = places_.span();
  noted_[std::size_t(rank)].push_back({{places.begin(), places.end()}, leaving_.begins, leaving_.counts});
}

void PlannedHistory::pushes(Rank rank, std::int64_t step, const Batch& batch, StepPushes& into) {
  into.make_room(rows(rank));
  list_pushed(rows(rank), batch, options_.layers, into.leaving, places_);
  const auto layers = std::size_t(options_.layers), at = std::size_t(rank);
  PushedRows& arriving = into.arriving;
  arriving.rows.take(0);
  arriving.begins.assign(1, 0), arriving.counts.clear();
  for (std::size_t peer = 0; peer < noted_.size(); ++peer) {
    const Noted& from = noted_[peer][std::size_t(step)];
    for (Index i = from.begins[at]; i < from.begins[at + 1]; ++i)
      arriving.rows.push(from.places[std::size_t(i)] + rows(rank).first_slots()[peer]);
    arriving.begins.push_back(arriving.rows.size());
    for (std::size_t layer = 0; layer < layers; ++layer)
      arriving.counts.push_back(from.counts[at * layers + layer]);
  }
}

}  // namespace atl
