#include "strategies/dgs/explanations.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "sampler/own_rows.h"
#include "strategies/exchange/figure_request.h"
#include "tensor/kernels.h"

namespace atl {
namespace {

constexpr std::size_t kNamed = 20;  // how many vertices, and how many columns, figures name

/// (1 + others, F): the centre's features, and the others', fetched from their owners.
Matrix star_features(Context& ctx, Communicator& comm, const BatchGraph& graph, const RemoteArcs& arcs,
                     const ExplanationOptions& options) {
  Workspace workspace;
  Context host{Device::kCpu, ctx.pool, &workspace};
  FeatureStoreOptions as = options.features_as;
  as.cache_bytes = 0;
  as.route = {Lane::kBulk, Traffic::kSetup, Traffic::kSetup, Traffic::kSetup};
  FeatureStore store(host, graph.owners, comm, graph.features, as);
  FeatureRows fetched;
  store.fetch(arcs.vertices(), fetched);
  const ConstMatrixView others = fetched.rows().dense;
  Matrix all(1 + others.rows, graph.features.cols());
  std::ranges::copy(mean_features(graph, comm.rank(), options.training_alone), all.data());
  axpby(host, 1, others, 0, all.view().slice_rows(1, others.rows));
  return all;
}

std::vector<VertexId> ids_of(const BatchGraph& graph, const RemoteArcs& arcs) {
  std::vector<VertexId> ids;
  for (const VertexId row : arcs.vertices()) ids.push_back(graph.training.ids[std::size_t(row)]);
  return ids;
}

}  // namespace

Explanations::Explanations(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
                           const BatchGraph& graph, const ExplanationOptions& options)
    : ctx_(ctx),
      comm_(comm),
      parameters_(parameters),
      options_(options),
      ids_(graph.training.ids),
      arcs_(graph.training, graph.owners, comm.rank()),
      probabilities_(arcs_.vertices().size(), 1),
      draws_(arcs_, probabilities_, options.shift, options.split),
      columns_(comm.size(), graph.features.cols(),
               chosen_columns(options.feature_rate, graph.features.cols())),
      chosen_(std::size_t(columns_.chosen())),
      header_(1, 2),
      weights_(1, Index(parameters.values().size())),
      predicted_(1, model.layers.back()->spec().out),
      before_vertices_(1, Index(arcs_.vertices().size())),
      before_features_(1, graph.features.cols()),
      label_scores_(std::size_t(predicted_.cols())),
      lane_(comm, [this](std::int64_t, Explanation& out, const std::atomic<bool>& stop) {
        const bool of_centre = !options_.of_batch || predicted_.at(0, 0) < 0;
        for (Index c = 0; c < predicted_.cols(); ++c)
          label_scores_[std::size_t(c)] = double(predicted_.at(0, c));
        explainer_->explain(weights_, of_centre ? std::span<const double>() : label_scores_, out, stop);
      }) {
  for (Matrix* each : {&header_, &weights_, &predicted_, &before_vertices_, &before_features_}) each->zero();
  explainer_.emplace(model, parameters, ids_of(graph, arcs_), star_features(ctx, comm, graph, arcs_, options),
                     options.explainer);
}

/// Where `step` doesn't follow the steps before it, begins without masks, as a new run does.
void Explanations::start(std::int64_t step) {
  lane_.open();
  if (begun() >= 0 && !has_begun_) return resume(step);
  const bool goes_on =
      begun() >= 0 && step > begun() * options_.every && step <= (begun() + 1) * options_.every;
  if (goes_on) return;
  lane_.forget();
  header_.zero();
  first_ = (step + options_.every - 1) / options_.every;
  taken_ = -1;
}

/// Takes the last masks from the checkpoint. The explanation that was under way begins again.
void Explanations::resume(std::int64_t step) {
  has_begun_ = true;
  first_ = begun();
  if (header_.at(0, 1) != 0) {
    --first_;
    const auto known = [](const Matrix& m) { return std::vector<Real>(m.data(), m.data() + m.cols()); };
    Explanation before;
    before.vertices = known(before_vertices_), before.features = known(before_features_);
    lane_.put(begun() - 1, std::move(before));
  }
  lane_.begin(begun(), step);
}

void Explanations::after_forward(const BatchStep& at) {
  if (at.step % options_.every != 0) return;
  const std::int64_t number = at.step / options_.every;
  const Explanation* const before = number > first_ ? lane_.known(number - 1) : nullptr;
  has_begun_ = true;
  header_.at(0, 0) = Real(number + 1), header_.at(0, 1) = before != nullptr ? 1 : 0;
  if (before != nullptr) {
    std::ranges::copy(before->vertices, before_vertices_.data());
    std::ranges::copy(before->features, before_features_.data());
  }
  read(ctx_, parameters_.values().data(), weights_.data(), std::size_t(weights_.bytes()));
  if (options_.of_batch) pool(host_rows_.of(ctx_, at.memory.output(at.memory.layers().end - 1)));
  lane_.begin(number, at.epoch);
}

/// Sets label_scores_ to the mean of the predictions for the step's vertices; below 0 where the rank has
/// none.
void Explanations::pool(ConstMatrixView logits) {
  std::ranges::fill(label_scores_, logits.rows == 0 ? -1.0 : 0.0);
  for (Index r = 0; r < logits.rows; ++r) {
    double most = double(logits.at(r, 0)), sum = 0;
    for (Index c = 1; c < logits.cols; ++c) most = std::max(most, double(logits.at(r, c)));
    for (Index c = 0; c < logits.cols; ++c) sum += std::exp(double(logits.at(r, c)) - most);
    for (Index c = 0; c < logits.cols; ++c) {
      const double z = double(logits.at(r, c));
      const double p = options_.explainer.multi_label ? 1 / (1 + std::exp(-z)) : std::exp(z - most) / sum;
      label_scores_[std::size_t(c)] += p / double(logits.rows);
    }
  }
  for (Index c = 0; c < predicted_.cols(); ++c) predicted_.at(0, c) = Real(label_scores_[std::size_t(c)]);
}

BatchMasks::Chosen Explanations::of(std::int64_t step) {
  const std::int64_t number = number_at(step);
  const bool random = !options_.features && options_.feature_rate < 1;
  if (random) columns_.draw(options_.seed, step);
  if (number >= first_ && number >= 0 && number != taken_) take(number);
  const bool explained = taken_ >= 0 && number >= 0;
  Chosen chosen;
  if (options_.vertices && explained) chosen.vertices = &draws_;
  if (random || (options_.features && options_.feature_rate < 1 && explained)) chosen.columns = &columns_;
  return chosen;
}

/// All ranks call it in the same step: the one in which masks change, or the first after a start.
void Explanations::take(std::int64_t number) {
  const Explanation* const explained = lane_.result(number);
  if (explained == nullptr) return;  // the run ends here, on all ranks
  taken_ = number;
  for (std::size_t u = 0; u < probabilities_.size(); ++u) {
    const double mask = std::clamp(double(explained->vertices[u]), 1e-12, 1 - 1e-12);
    probabilities_[u] = options_.odds ? mask / (1 - mask) : mask;
  }
  if (!options_.features || options_.feature_rate == 1) return;
  largest_columns(explained->features, chosen_, scratch_);
  columns_.exchange(comm_, chosen_);
}

ExplainedFigures Explanations::figures() {
  ExplainedFigures f;
  f.others = explainer_->others(), f.features = explainer_->features();
  const bool applied = taken_ >= 0;
  f.chosen = options_.features && !applied ? f.features : columns_.chosen();
  f.explanations = lane_.counts().explanations, f.seconds = lane_.counts().seconds;
  const Explanation* const last = lane_.known(begun() - 1);
  if (last == nullptr || !applied) return f;
  f.epochs = last->epochs, f.loss = {last->first_loss, last->loss};
  const auto largest = [](const std::vector<Real>& masks, ExplainedFigures::Spread& spread) {
    std::vector<ExplainedFigures::Named> all;
    for (std::size_t i = 0; i < masks.size(); ++i) all.push_back({VertexId(i), double(masks[i])});
    std::ranges::stable_sort(all, std::ranges::greater(), &ExplainedFigures::Named::mask);
    if (!all.empty()) spread = {all.back().mask, all[all.size() / 2].mask};
    all.resize(std::min(all.size(), kNamed));
    return all;
  };
  if (options_.vertices) f.vertices = largest(last->vertices, f.vertex_masks);
  for (auto& each : f.vertices) each.id = ids_[std::size_t(arcs_.vertices()[std::size_t(each.id)])];
  if (options_.features && options_.feature_rate < 1) f.columns = largest(last->features, f.column_masks);
  return f;
}

std::vector<NamedMatrix> Explanations::state() {
  std::vector<NamedMatrix> state{{"explained", header_.view()},
                                 {"explained_weights", weights_.view()},
                                 {"explained_label", predicted_.view()},
                                 {"mask_features", before_features_.view()}};
  if (before_vertices_.cols() > 0) state.push_back({"mask_vertices", before_vertices_.view()});
  return state;
}

void Explanations::report(FigureRequest& request) {
  request.offer<ExplainedFigures>([&] { return figures(); });
}

void Explanations::count(ScheduleBytes& bytes) const {
  bytes.saved += arcs_.bytes() + Index(probabilities_.size() * sizeof(double)) + explainer_->bytes();
  for (const Matrix* each : {&weights_, &predicted_, &before_vertices_, &before_features_})
    bytes.saved += each->held_bytes();
}

void largest_columns(std::span<const Real> values, std::span<VertexId> chosen,
                     std::vector<VertexId>& scratch) {
  scratch.resize(values.size());
  std::iota(scratch.begin(), scratch.end(), VertexId(0));
  const auto larger = [&](VertexId a, VertexId b) {
    const Real of_a = values[std::size_t(a)], of_b = values[std::size_t(b)];
    return of_a != of_b ? of_a > of_b : a < b;
  };
  const auto end = scratch.begin() + std::ptrdiff_t(chosen.size());
  if (end != scratch.end()) std::nth_element(scratch.begin(), end, scratch.end(), larger);
  std::copy(scratch.begin(), end, chosen.begin());
  std::ranges::sort(chosen);
}

}  // namespace atl
