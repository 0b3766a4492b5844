// A comparison for a terminal, and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/json.h"
#include "base/text.h"
#include "compare/comparison.h"

namespace atl {
namespace {

/// How many of the known runs reached the accuracy, and in how many steps.
struct Tally {
  std::size_t runs = 0, there = 0;
  double least = kNotThere, most = 0;  // shortest and longest length of the runs that got there
};

Tally tally_of(std::span<const Weighted> lengths) {
  Tally tally{.runs = lengths.size()};
  for (const auto& [each, weight] : lengths) {
    if (each == kNotThere) continue;
    ++tally.there;
    tally.least = std::min(tally.least, each), tally.most = std::max(tally.most, each);
  }
  return tally;
}

/// The runs with the job's model, and the runs with other models.
std::array<std::span<const Weighted>, 2> by_model(const Lengths& lengths) {
  const std::span<const Weighted> all(lengths.of_runs);
  return {all.first(all.size() - lengths.others), all.last(lengths.others)};
}

/// The tallies of runs in words: "of 2 runs with gin, all, and of 9 runs with other models, 7". With " got
/// there" appended it is a sentence.
std::string runs_text(const Lengths& lengths) {
  const auto text = [](std::span<const Weighted> runs, const std::string& with) {
    const Tally r = tally_of(runs);
    return fmt::format("of {} with {}, {}", counted_text(std::int64_t(r.runs), "run"), with,
                       r.there == 0        ? "none"
                       : r.there == r.runs ? "all"
                                           : std::to_string(r.there));
  };
  const auto [own, others] = by_model(lengths);
  if (others.empty()) return text(own, lengths.model);
  const std::string of_others = text(others, "other models");
  return own.empty() ? of_others : fmt::format("{}, and {}", text(own, lengths.model), of_others);
}

std::string points_text(const ComparedStrategy& row) {
  if (row.exact) return "as graph's";
  if (!row.effect || row.effect->measured_on.empty()) {
    if (!row.is_known() || row.effect->cut_off) return "unknown";
    return row.effect->tried_on.empty()
               ? runs_text(row.effect->lengths) + " came within half a point"
               : fmt::format("at most half a point below (validation, tried on {})", row.effect->tried_on);
  }
  const Effect& effect = *row.effect;
  const std::string points = effect.pairs == 1
                                 ? fmt::format("{:+.1f}", effect.points)
                                 : fmt::format("{:+.1f} ± {:.1f}", effect.points, effect.deviation);
  const std::string pairs = effect.pairs == 1 ? "one pair" : counted_text(effect.pairs, "pair");
  const std::string visits =
      effect.visits < 1 ? fmt::format(" after {:.0f} % of the vertex visits", 100 * effect.visits) : "";
  return fmt::format("{} ({}, {}, {}{})", points, effect.model, effect.measured_on, pairs, visits);
}

/// The cost in words: relative to `graph`'s or, if `graph` is refused, in seconds of a step.
std::string cost_text(const Comparison& c, const ComparedStrategy& row) {
  const auto text = [&](double cost) {
    return c.plain() != nullptr ? fmt::format("{:.2f}", cost / *c.cost(*c.plain())) : duration_text(cost);
  };
  if (const auto above = row.cost_above()) return "> " + text(*above);
  if (const auto cost = c.cost(row)) return text(*cost);
  return row.is_known() ? "never" : "unknown";
}

/// How many steps an inexact strategy takes to come close to graph's accuracy, in words.
std::string steps_text(const Effect& effect) {
  const std::string there = "to graph's accuracy less half a point";
  if (!effect.tried_on.empty())
    return fmt::format("it takes {:.2f} times as many steps as graph {}, tried on {}",
                       effect.lengths.of_runs.front().value, there, effect.tried_on);
  const Tally r = tally_of(effect.lengths.of_runs);
  const std::string range =
      r.least < r.most ? fmt::format("{:.2f} to {:.2f}", r.least, r.most) : fmt::format("{:.2f}", r.least);
  return fmt::format("{} got {}, in {} times as many steps as graph", runs_text(effect.lengths), there,
                     range);
}

/// What the time of an epoch is spent on.
std::string parts_text(const SimulatedRow& row) {
  std::string text = "computes " + duration_text(row.compute);
  if (row.exposed > 0.005 * row.epoch) {
    const auto longest = std::ranges::max_element(row.waits) - row.waits.begin();
    text += fmt::format(", waits {}", duration_text(row.exposed));
    if (row.waits[std::size_t(longest)] > 0)
      text += fmt::format(", most of it for {}", traffic_name(Traffic(longest)));
  }
  if (row.without_batch > 0.005 * row.epoch)
    text += fmt::format(", waits {} for batches", duration_text(row.without_batch));
  return text;
}

std::string head(const Comparison& c) {
  const Topology& t = c.topology;
  std::string text = fmt::format("{}, {} on {}", c.dataset, counted_text(t.ranks(), "rank"),
                                 counted_text(std::int64_t(t.servers.size()), "server"));
  if (t.servers.size() > 1)
    text += fmt::format(" with links of {:.4g} Gbit/s ({})", t.slowest_rate() * 8e-9, t.name);
  return text + "\n\n";
}

/// The rows in the order of the table: possible strategies, the cheapest first, then those of unknown cost,
/// then refused ones.
std::vector<const ComparedStrategy*> in_order(const Comparison& comparison) {
  std::vector<const ComparedStrategy*> all;
  for (const ComparedStrategy& row : comparison.rows) all.push_back(&row);
  const auto place = [&](const ComparedStrategy* row) {
    if (!row->refused.empty()) return 1e300;
    return comparison.cost(*row).value_or(row->cost_above().value_or(1e200));
  };
  std::ranges::stable_sort(all, {}, place);
  return all;
}

void put_steps(const Effect& effect, nlohmann::ordered_json& json) {
  if (!effect.tried_on.empty()) {
    json["stepsOverGraph"] = nullptr;
    json[effect.cut_off ? "stepsOverGraphAbove" : "stepsOverGraph"] = effect.lengths.of_runs.front().value;
    return;
  }
  if (effect.lengths.guessed) return;
  const auto put = [&](const char* name, std::span<const Weighted> runs) {
    for (const auto& [each, weight] : runs)
      json[name].push_back(each < kNotThere ? nlohmann::ordered_json(each) : nullptr);
  };
  const auto [own, others] = by_model(effect.lengths);
  put("stepsOverGraphOfRuns", own);
  if (!own.empty()) json["runsWith"] = effect.lengths.model;
  put("stepsOverGraphOfOtherModels", others);
}

nlohmann::ordered_json row_json(const Comparison& comparison, const ComparedStrategy& row) {
  nlohmann::ordered_json json{{"strategy", row.label}};
  if (!row.refused.empty()) {
    json["refused"] = row.refused;
    return json;
  }
  const SimulatedRow& epoch = row.forecast.row;
  json["exact"] = row.exact;
  json["epochSeconds"] = epoch.epoch;
  json["computeSeconds"] = epoch.compute;
  json["exposedSeconds"] = epoch.exposed;
  json["withoutBatchSeconds"] = epoch.without_batch;
  json["steps"] = row.forecast.steps;
  json["bytesWithinServers"] = epoch.bytes_inside;
  json["bytesBetweenServers"] = epoch.bytes_between;
  json["peakMemoryBytes"] = row.forecast.peak;
  if (row.effect) {
    if (!row.effect->measured_on.empty()) {
      json["points"] = row.effect->points;
      if (row.effect->pairs > 1) json["deviation"] = row.effect->deviation;
      json["measuredOn"] = row.effect->measured_on;
      json["measuredWith"] = row.effect->model;
      json["pairs"] = row.effect->pairs;
      json["visitsOverGraph"] = row.effect->visits;
    }
    if (!row.effect->tried_on.empty()) json["triedOn"] = row.effect->tried_on;
    put_steps(*row.effect, json);
  }
  const auto cost = comparison.cost(row);
  json["costSeconds"] = cost ? nlohmann::ordered_json(*cost) : nullptr;
  if (const auto above = row.cost_above()) json["costSecondsAbove"] = *above;
  return json;
}

/// What to do about rows that aren't known to learn; "": there are none.
std::string unknown_text(const Comparison& comparison) {
  const auto is_unknown = [](const ComparedStrategy& row) { return row.refused.empty() && !row.is_known(); };
  return std::ranges::any_of(comparison.rows, is_unknown)
             ? "unknown: fewer than three runs of it are stored, or its trial failed, so it isn't chosen; --trial 200 trains it for a while on this graph\n"
             : "";
}

}  // namespace

std::string why(const Comparison& comparison, const ComparedStrategy& best) {
  const ComparedStrategy* plain = comparison.plain();
  const SimulatedRow& row = best.forecast.row;
  std::string text = fmt::format("{}: an epoch is predicted to take {}: it {}", best.label,
                                 duration_text(row.epoch), parts_text(row));
  if (!best.exact) text += "; " + steps_text(*best.effect);
  if (plain != nullptr && plain != &best)
    text += fmt::format(". graph takes {}: it {}", duration_text(plain->forecast.row.epoch),
                        parts_text(plain->forecast.row));
  return text;
}

std::string to_text(const Comparison& c) {
  std::size_t width = 8;
  for (const ComparedStrategy& row : c.rows) width = std::max(width, row.label.size());
  std::string text =
      head(c) + fmt::format("{:<{}}  {:>5} {:>9} {:>6} {:>11} {:>11} {:>8}  {}\n", "strategy", width, "exact",
                            "epoch", "steps", "sent", "memory", "time", "accuracy");
  for (const ComparedStrategy* row : in_order(c)) {
    if (!row->refused.empty()) {
      text += fmt::format("{:<{}}  {}\n", row->label, width, row->refused);
      continue;
    }
    const Forecast& f = row->forecast;
    text +=
        fmt::format("{:<{}}  {:>5} {:>9} {:>6} {:>11} {:>11} {:>8}  {}\n", row->label, width,
                    row->exact ? "yes" : "no", duration_text(f.row.epoch), count_text(std::int64_t(f.steps)),
                    bytes_text(f.sent()), bytes_text(double(f.peak)), cost_text(c, *row), points_text(*row));
  }
  text +=
      "epoch: predicted, sent: by all ranks in it, memory: of the largest rank; time: to graph's accuracy less half a point, "
      "over graph's, by the mean square root of what is known, where a run that never got there counts 3, and \"> 0.50\": the trial was "
      "over before it was there; accuracy: points beside graph's, as measured with the model, on the set and in the pairs in brackets\n";
  text += unknown_text(c);
  const ComparedStrategy *exact = c.best(true), *any = c.best(false);
  if (exact != nullptr) text += "\nthe best exact one is " + why(c, *exact) + "\n";
  if (any != nullptr && any != exact && !c.exact) text += "\nthe best of all is " + why(c, *any) + "\n";
  return text;
}

std::string to_json(const Comparison& comparison) {
  nlohmann::ordered_json json{{"event", "comparison"},
                              {"dataset", comparison.dataset},
                              {"topology", comparison.topology.name},
                              {"exact", comparison.exact},
                              {"trialSeconds", comparison.trial_seconds}};
  for (const bool exact : {true, false})
    if (const ComparedStrategy* best = comparison.best(exact))
      json[exact ? "bestExact" : "best"] = best->label;
  for (const ComparedStrategy* row : in_order(comparison))
    json["strategies"].push_back(row_json(comparison, *row));
  return json.dump();
}

}  // namespace atl
