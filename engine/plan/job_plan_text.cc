// A plan as a person reads it.
#include <fmt/format.h>
#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include "base/text.h"
#include "job/samplers.h"
#include "job/strategies/batch_options.h"
#include "plan/job_plan.h"
#include "plan/strategy_plan.h"
#include "strategies/schedule/strategy.h"

namespace atl {
namespace {

/// A table row: a name, then a figure for each rank.
template <class F>
std::string row(const std::string& name, const std::vector<RankPlan>& ranks, F&& figure) {
  std::string line = fmt::format("  {:<26}", name);
  for (const RankPlan& r : ranks) line += fmt::format("{:>14}", figure(r));
  return line + "\n";
}

std::string memory_text(const JobPlan& plan) {
  const auto& ranks = plan.ranks;
  const auto bytes = [](Index b) { return bytes_text(double(b)); };
  std::string text = row("memory of each rank", ranks,
                         [](const RankPlan& r) { return fmt::format("rank {}", r.shape.rank); });
  for (std::size_t i = 0; i < ranks.front().memory.items.size(); ++i) {
    const auto empty = [&](const RankPlan& r) { return r.memory.items[i].bytes == 0; };
    if (std::all_of(ranks.begin(), ranks.end(), empty)) continue;
    text += row(ranks.front().memory.items[i].name, ranks,
                [&](const RankPlan& r) { return bytes(r.memory.items[i].bytes); });
  }
  text += row("while training", ranks, [&](const RankPlan& r) { return bytes(r.memory.training); });
  const auto any = [&](Index RankMemory::*what) {
    return std::ranges::any_of(ranks, [&](const RankPlan& r) { return r.memory.*what > 0; });
  };
  text += row("  of it training's passes", ranks, [&](const RankPlan& r) { return bytes(r.memory.passes); });
  if (any(&RankMemory::inference))
    text +=
        row("  of it exact inference", ranks, [&](const RankPlan& r) { return bytes(r.memory.inference); });
  if (any(&RankMemory::pages))
    text += row("page cache of mapped arcs", ranks, [&](const RankPlan& r) { return bytes(r.memory.pages); });
  if (any(&RankMemory::file))
    text += row("sums in a file", ranks, [&](const RankPlan& r) { return bytes(r.memory.file); });
  text += row("mapped files, loading", ranks, [&](const RankPlan& r) { return bytes(r.memory.mapped); });
  text += row("while loading", ranks, [&](const RankPlan& r) { return bytes(r.memory.loading); });
  text +=
      row("while writing checkpoints", ranks, [&](const RankPlan& r) { return bytes(r.memory.checkpoint); });
  text += row("while writing results", ranks, [&](const RankPlan& r) { return bytes(r.memory.results); });
  return text + row("peak", ranks, [&](const RankPlan& r) { return bytes(r.memory.peak()); });
}

double total(std::span<const std::int64_t> bytes) {
  return double(std::accumulate(bytes.begin(), bytes.end(), std::int64_t(0)));
}

/// The sum of the bytes, and its parts by name.
std::string sent_text(std::span<const std::int64_t> bytes, const char* (*name)(std::size_t)) {
  std::string parts;
  for (std::size_t p = 0; p < bytes.size(); ++p)
    if (bytes[p] > 0)
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name(p), bytes_text(double(bytes[p])));
  return bytes_text(total(bytes)) + (parts.empty() ? "" : " (" + parts + ")");
}

const char* purpose_name(std::size_t purpose) {
  return traffic_name(Traffic(purpose));
}
const char* part_name(std::size_t part) {
  return kEvaluationPartNames[part];
}

std::string traffic_text(const JobPlan& plan) {
  const std::string evaluation = total(plan.evaluation_parts) > 0
                                     ? sent_text(plan.evaluation_parts, part_name)
                                     : sent_text(plan.evaluation, purpose_name);
  return fmt::format("between ranks, per epoch: {}\nbetween ranks, per evaluation: {}\n",
                     sent_text(plan.epoch, purpose_name), evaluation);
}

/// A line about evaluations that take longer than training; "": they don't.
std::string seldom_text(const JobPlan& plan, const Job& job) {
  const int every = job.training.evaluate_every;
  if (every == 0 || plan.evaluation_seconds <= plan.epoch_seconds * every) return "";
  return fmt::format(
      "evaluations take longer than training: {} for each {} (evaluate more seldom: training.evaluateEvery)\n",
      duration_text(plan.evaluation_seconds), every == 1 ? "epoch" : counted_text(every, "epoch"));
}

/// Says where a card's rates are from, and whether the card holds the rank that needs most memory. With
/// mini-batches, the host holds the features and the batches made ahead; how much of the sum is on the card
/// isn't planned.
std::string card_text(const JobPlan& plan) {
  const auto most =
      std::ranges::max_element(plan.ranks, {}, [](const RankPlan& r) { return r.memory.on_device(); });
  const Index needed = most->memory.on_device(), there = plan.card->bytes;
  std::string text = fmt::format("a model, {}: kernels' calls cost nothing in it (rates: {})\n",
                                 plan.card->measured ? "from rates that one card reached" : "not measured",
                                 plan.card->source);
  if (most->shape.batches && needed > there)
    return text +
           fmt::format(
               "rank {} trains in {}, of which the host holds features and batches made ahead, and its card of {} the rest\n",
               most->shape.rank, bytes_text(double(needed)), bytes_text(double(there)));
  text += fmt::format("rank {} trains in {} of its card's {}", most->shape.rank, bytes_text(double(needed)),
                      bytes_text(double(there)));
  return text +
         (needed <= there ? "\n" : ": it doesn't fit (use more ranks, or training.recompute: layer)\n");
}

std::string time_text(const JobPlan& plan, const Job& job) {
  const auto slowest = std::ranges::max_element(plan.ranks, {}, &RankPlan::epoch_seconds);
  const EpochWork& w = slowest->work;
  const MachineRates& r = plan.rates;
  std::string text =
      fmt::format("rates of a rank ({}): products {:.1f} Gflop/s, gather {:.1f} GB/s, triad {:.1f} GB/s\n",
                  plan.card != nullptr ? plan.card->title : counted_text(plan.threads, "thread"),
                  r.product_flops / 1e9, r.gather_bytes / 1e9, r.triad_bytes / 1e9);
  if (plan.card != nullptr) text += card_text(plan);
  text += fmt::format("an epoch of rank {}: products {} ({:.3g} Gflop), gathers {} ({}), streams {} ({})",
                      slowest->shape.rank, duration_text(product_seconds(w, r)), w.all_flops() / 1e9,
                      duration_text(gather_seconds(w, r)), bytes_text(w.all_gathered()),
                      duration_text(stream_seconds(w, r)), bytes_text(w.all_streamed()));
  if (slowest->communication_seconds > 0)
    text += fmt::format(", communication {}", duration_text(slowest->communication_seconds));
  return text +
         fmt::format("\n{}: {} per epoch, {} per evaluation, {} for {} epochs with evaluations\n",
                     plan.simulated_on.empty() ? "predicted" : "simulated on " + plan.simulated_on,
                     duration_text(plan.epoch_seconds), duration_text(plan.evaluation_seconds),
                     duration_text(plan.total_seconds), job.training.epochs) +
         seldom_text(plan, job);
}

/// A line that says what the figures rest on; "": the prepared graph.
std::string basis_text(const JobPlan& plan, const Job& job) {
  constexpr const char* kFirst = "the graph isn't prepared yet, and batches are drawn from the data set";
  switch (plan.from) {
    case PlannedFrom::kPrepared:
      break;
    case PlannedFrom::kDataset:
      return fmt::format("{}: they are the run's own (--prepare prepares the graph first)\n\n", kFirst);
    case PlannedFrom::kAssumedParts:
      return fmt::format(
          "{}, divided at random: bytes between ranks are at most these, because {} keeps neighbours together "
          "(--prepare prepares the graph first)\n\n",
          kFirst, job.placement.partitioner.kind);
  }
  return "";
}

std::string line(const std::string& text) {
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string costly_evaluations(const JobPlan& plan, const Job& job) {
  constexpr double kMuch = 2;
  const int every = job.training.evaluate_every;
  double epoch = 0, evaluation = 0;
  for (const std::int64_t each : plan.epoch) epoch += double(each);
  for (const RankPlan& rank : plan.ranks)
    for (const std::int64_t each : rank.evaluation) evaluation += double(each);
  if (every == 0 || epoch == 0 || evaluation < kMuch * epoch * every) return "";
  return fmt::format(
      "an evaluation sends {} between ranks, {:.1f} × what an epoch of training does, and there is one for {}: a larger "
      "training.evaluateEvery sends less",
      bytes_text(evaluation), evaluation / epoch, every == 1 ? "each epoch" : counted_text(every, "epoch"));
}

std::string costly_weight(const JobPlan& plan) {
  constexpr double kMost = 0.5;
  const double sent = double(total(plan.epoch));
  const double weight = plan.wide_weight * double(plan.epoch[std::size_t(Traffic::kGradient)]);
  if (sent == 0 || weight < kMost * sent) return "";
  return fmt::format(
      "{} of it are gradients of weights that have a row for each feature: strategy p3 keeps these with their features, "
      "and a larger batchSize sends them less often",
      bytes_text(weight));
}

std::string to_text(const JobPlan& plan, const Job& job) {
  const auto& ranks = plan.ranks;
  std::string text = basis_text(plan, job) + row("part of each rank", ranks, [](const RankPlan& r) {
                       return fmt::format("rank {}", r.shape.rank);
                     });
  text += row("owned vertices", ranks, [](const RankPlan& r) { return count_text(r.shape.owned); });
  text += row("halo vertices", ranks, [](const RankPlan& r) { return count_text(r.shape.halo); });
  text += row("arcs", ranks, [](const RankPlan& r) { return count_text(r.shape.arcs()); });
  if (draws_by_vertex(job) && strategy_of(job).holds == Holds::kBatches)
    text += fmt::format("neighbours drawn: {}\n", hops_text(job));
  return text + "\n" + (plan.section ? plan.section->text() : "") + memory_text(plan) + "\n" +
         traffic_text(plan) + line(costly_weight(plan)) + line(costly_evaluations(plan, job)) +
         time_text(plan, job);
}

}  // namespace atl
