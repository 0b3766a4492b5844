#include "train/not_learning.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "job/strategies.h"

namespace atl {
namespace {

constexpr double kFallen = 0.99;  // a loss above this share of another one hasn't fallen
constexpr std::size_t kRemedies = 2;

/// The entropy of a label that a vertex has with probability p.
double entropy_of_one(double p) {
  return p <= 0 || p >= 1 ? 0 : -p * std::log(p) - (1 - p) * std::log(1 - p);
}

double mean_loss(std::span<const EpochRecord> epochs) {
  const auto add = [](double sum, const EpochRecord& each) { return sum + each.loss; };
  return std::accumulate(epochs.begin(), epochs.end(), 0.0, add) / double(epochs.size());
}

double least_loss(std::span<const EpochRecord> epochs) {
  return std::ranges::min(epochs, {}, &EpochRecord::loss).loss;
}

/// What to change, the likeliest remedy first.
std::vector<std::string> remedies(const Job& job) {
  const TrainingSpec& t = job.training;
  const double rate = t.optimizer.learning_rate, high = t.optimizer.kind == OptimizerKind::kSgd ? 1 : 0.02;
  std::vector<std::string> all = job.strategy.row->advise(job, {.learns = false});
  if (rate > high) all.push_back(fmt::format("lower training.optimizer.learningRate ({})", rate));
  if (rate < high / 100) all.push_back(fmt::format("raise training.optimizer.learningRate ({})", rate));
  if (job.model.norm == Norm::kNone) all.emplace_back("set model.norm: layer");
  if (t.dropout >= 0.7) all.push_back(fmt::format("lower training.dropout ({})", t.dropout));
  if (t.optimizer.weight_decay.convolutions >= 0.01)
    all.push_back(
        fmt::format("lower training.optimizer.weightDecay ({})", t.optimizer.weight_decay.convolutions));
  if (job.dataset.normalise_features == NormaliseFeatures::kNone)
    all.emplace_back("set dataset.normaliseFeatures: row");
  if (job.model.layers > 3) all.push_back(fmt::format("lower model.layers ({})", job.model.layers));
  all.push_back(fmt::format("try another training.optimizer.learningRate than {}", rate));
  all.emplace_back("check that the labels belong to the data set's rows");
  all.resize(kRemedies);
  return all;
}

bool stays_without_input(std::span<const EpochRecord> epochs, double without_input) {
  const std::span<const EpochRecord> recent = epochs.last((epochs.size() + 1) / 2);
  const std::size_t half = recent.size() / 2;
  return without_input > 0 && half > 0 && least_loss(recent) >= kFallen * without_input &&
         mean_loss(recent.last(half)) >= kFallen * mean_loss(recent.first(half));
}

/// What is wrong after these epochs, the run's last ones if `is_end`; "": nothing.
std::string fault_of(std::span<const EpochRecord> epochs, double without_input, bool is_end) {
  const double first = epochs.front().loss, least = least_loss(epochs), last = epochs.back().loss;
  if (least >= kFallen * first)
    return fmt::format("the loss hasn't fallen in {} epochs (it was {:.4g}, and at least {:.4g} since)",
                       epochs.size(), first, least);
  // At the end there is nothing to wait for, even if the loss still falls.
  if (stays_without_input(epochs, without_input) ||
      (is_end && without_input > 0 && least >= kFallen * without_input))
    return fmt::format(
        "after {} epochs the loss is {:.4g}, no better than saying always how often each label occurs ({:.4g})",
        epochs.size(), last, without_input);
  return "";
}

}  // namespace

double loss_without_input(Communicator& comm, const Job& job, const RankData& data) {
  if (job.task == Task::kLinkPrediction) return entropy_of_one(1.0 / (1 + job.links.negatives));
  // Counts by label; the last one is the number of vertices.
  std::vector<double> counts(std::size_t(data.classes()) + 1, 0);
  const Labels& labels = data.labels();
  for (const VertexId row : data.train.rows) {
    ++counts.back();
    if (labels.columns == 0) ++counts[std::size_t(labels.classes[std::size_t(row)])];
    for (Index c = 0; c < labels.columns; ++c) counts[std::size_t(c)] += labels.target_rows().at(row, c);
  }
  comm.all_reduce(Traffic::kSetup, std::span<double>(counts));
  double loss = 0;
  for (std::size_t c = 0; c + 1 < counts.size() && counts.back() > 0; ++c) {
    const double share = counts[c] / counts.back();
    loss += labels.columns > 0 ? entropy_of_one(share) : share > 0 ? -share * std::log(share) : 0;
  }
  return loss;
}

Index epochs_to_learn(Index epochs) {
  return std::max<Index>(5, epochs / 10);
}

std::string not_learning(const Job& job, std::span<const EpochRecord> epochs, double without_input) {
  if (epochs.empty() || epochs.front().epoch != 1) return "";
  if (epochs.front().loss == 0) return "";  // the data have one class, which was reported before the run
  const auto all = std::size_t(job.training.epochs);
  for (auto looked = std::size_t(epochs_to_learn(job.training.epochs)); looked <= epochs.size();
       looked = looked < all ? std::min(2 * looked, all) : 2 * looked) {
    const std::string fault = fault_of(epochs.first(looked), without_input, looked == all);
    if (fault.empty()) continue;
    if (looked < epochs.size()) return "";
    const std::vector<std::string> two = remedies(job);
    return fmt::format("{}: {}, or {}", fault, two[0], two[1]);
  }
  return "";
}

namespace {

std::vector<NonFinite> gather(Communicator& comm, const NonFinite& mine) {
  std::vector<NonFinite> all;
  for (const auto& blob : comm.all_gather(Traffic::kStatistics, std::as_bytes(std::span(&mine, 1))))
    std::memcpy(&all.emplace_back(), blob.data(), sizeof(NonFinite));
  return all;
}

/// The rank that saw `what` first, in the order of an epoch; −1: none saw it.
Rank earliest(const std::vector<NonFinite>& all, std::int32_t NonFinite::*what, bool ascending) {
  Rank first = -1;
  for (Rank r = 0; r < Rank(all.size()); ++r) {
    const std::int32_t theirs = all[std::size_t(r)].*what;
    if (theirs < 0) continue;
    if (first < 0 ||
        (ascending ? theirs < all[std::size_t(first)].*what : theirs > all[std::size_t(first)].*what))
      first = r;
  }
  return first;
}

std::string layer_text(const Model& model, int layer) {
  if (layer == int(model.layers.size())) return "the decoder";
  return fmt::format("layer {} ({})", layer, model.spec(layer).name);
}

std::string gradient_text(const Model& model, const Parameters& parameters, std::int32_t entry) {
  const Parameters::Entry& e = parameters.entries()[std::size_t(entry)];
  return fmt::format("the gradient of {} in {}", e.spec.name, layer_text(model, e.layer));
}

/// Says where the value was first seen. Outputs come before gradients, and a rank's own gradient before the
/// sum over ranks, which spreads the value.
std::string place_text(const Communicator& comm, const Model& model, const Parameters& parameters,
                       const std::vector<NonFinite>& all) {
  const auto on = [&](Rank r) {
    const int stage = all[std::size_t(r)].stage;
    return fmt::format("on rank {} ({}{})", r, comm.host(r),
                       stage < 0 ? "" : fmt::format(", stage {}", stage));
  };
  if (const Rank r = earliest(all, &NonFinite::layer, true); r >= 0)
    return layer_text(model, all[std::size_t(r)].layer) + " " + on(r);
  if (const Rank r = earliest(all, &NonFinite::share, false); r >= 0)
    return gradient_text(model, parameters, all[std::size_t(r)].share) + " " + on(r);
  if (const Rank r = earliest(all, &NonFinite::sum, false); r >= 0)
    return gradient_text(model, parameters, all[std::size_t(r)].sum) + ", summed over ranks";
  return "the sum of the loss";
}

}  // namespace

void fail_non_finite(Communicator& comm, const Model& model, const Parameters& parameters,
                     const NonFinite& mine, const NonFiniteTime& when) {
  const std::vector<NonFinite> all = gather(comm, mine);
  const std::string where = place_text(comm, model, parameters, all);
  const std::string checkpoint = when.last_checkpoint > Reached{}
                                     ? "the last good checkpoint is of " + reached_text(when.last_checkpoint)
                                     : "there is no checkpoint yet";
  const bool by_features = when.untrained && earliest(all, &NonFinite::layer, true) >= 0;
  if (comm.rank() != 0) comm.barrier();
  fail("{}: loss or gradient is not finite; first seen in {}; {}; {}, and start over with --fresh", when.text,
       where, checkpoint,
       by_features ? "the model has learnt nothing yet, so the features are too large to compute with: set "
                     "dataset.normaliseFeatures: row, or import the data set with --scale-features"
                   : "lower training.optimizer.learningRate, set training.optimizer.clipNorm or model.norm");
}

}  // namespace atl
