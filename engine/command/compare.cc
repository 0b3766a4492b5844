#include "command/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/text.h"
#include "command/bench/cells.h"
#include "command/job_data.h"
#include "command/record_job.h"
#include "job/load.h"
#include "job/quantity.h"
#include "job/strategies.h"
#include "job/yaml.h"
#include "train/labels.h"

namespace atl {
namespace {

constexpr const char* kUsualLink = "10gbit";

SetSize size_of(const Dataset& dataset, const Job& job) {
  const DatasetMeta& meta = dataset.meta();
  const std::vector<std::uint8_t> trains = training_marks(dataset, job).bytes();
  return {meta.vertices, meta.arcs, meta.features, Index(std::ranges::count(trains, 1)),
          job.placement.partitioner.kind == "hash"};
}

bool is_exact(const Job& job) {
  const StrategyInfo& info = *job.strategy.row;
  return info.exact != nullptr && info.exact(job);
}

/// The changed job on the servers of the topology, if one is given.
LoadedJob with_change(const Arguments& arguments, const std::string& change, const CompareOptions& options,
                      Say say) {
  if (options.topology) return job_on(*options.topology, arguments, change, say);
  Arguments changed = arguments;
  changed.add("--set", change);
  return load_job_of(changed, say);
}

/// What all strategies of a comparison share: the servers, and what is known about the machine.
class Comparing {
 public:
  Comparing(const Arguments& arguments, const Dataset& dataset, const Topology& topology,
            const MachineRates& rates, const CompareOptions& options, const std::string& wire, Say say)
      : arguments_(arguments),
        dataset_(dataset),
        topology_(topology),
        rates_(rates),
        options_(options),
        wire_(wire),
        say_(say) {}

  std::vector<ComparedStrategy> rows() {
    for (const StrategyInfo& info : strategy_infos())
      if (!info.stands_for_another()) add_kind(info);
    return std::move(rows_);
  }

 private:
  void add_kind(const StrategyInfo& info) {
    const std::optional<LoadedJob> usual = add(info, "");
    if (!usual || info.variants == nullptr) return;
    for (const std::string& options : info.variants(usual->job)) add(info, options);
  }

  /// Adds a strategy's row. Returns the job, if it can have the strategy.
  std::optional<LoadedJob> add(const StrategyInfo& info, const std::string& options) {
    ComparedStrategy& row = rows_.emplace_back();
    row.label = info.kind + (options.empty() ? "" : ":" + options);
    row.change = read_strategy_list(row.label + wire_).front().change;
    try {
      LoadedJob loaded = with_change(arguments_, row.change, options_, say_nothing);
      check_trainable(loaded, dataset_);
      row.exact = is_exact(loaded.job);
      row.forecast = forecast(loaded.job, dataset_, prepare_graph(loaded, dataset_, say_), topology_, rates_,
                              options_.threads, options_.on_gpus);
      // The stored runs learned classes.
      if (!row.exact && loaded.job.task != Task::kLinkPrediction)
        row.effect = known_effect(row.label, loaded.job.model.kind, size_of(dataset_, loaded.job));
      if (const auto& shortfall = row.forecast.shortfall; shortfall && shortfall->certain)
        row.refused =
            fmt::format("refused: takes {} a rank, and resources.memory is {}", bytes_text(shortfall->needed),
                        bytes_text(double(loaded.job.resources.memory)));
      return loaded;
    } catch (const Error& error) {
      row.refused = "refused: " + first_line(error.what(), "--set " + row.change + ": ");
      return {};
    }
  }

  /// The first line of an error, without the place if the place is the change itself.
  static std::string first_line(const std::string& text, const std::string& place) {
    const std::string line = text.substr(0, text.find('\n'));
    return line.starts_with(place) ? line.substr(place.size()) : line;
  }

  const Arguments& arguments_;
  const Dataset& dataset_;
  const Topology& topology_;
  const MachineRates& rates_;
  const CompareOptions& options_;
  std::string wire_;
  Say say_;
  std::vector<ComparedStrategy> rows_;
};

/// The server of each rank, as the manifest says.
std::vector<std::string> servers_of(const Job& job) {
  const int ranks = job.placement.ranks,
            together = job.placement.ranks_per_server > 0 ? job.placement.ranks_per_server : ranks;
  std::vector<std::string> hosts;
  for (int rank = 0; rank < ranks; ++rank) hosts.push_back(fmt::format("server {}", rank / together));
  return hosts;
}

}  // namespace

bool is_open(const Job& job) {
  return job.strategy.row->stands_for_another();
}

Comparison compare_strategies(const Arguments& arguments, const LoadedJob& given, const Dataset& dataset,
                              const CompareOptions& options, Say say) {
  const Job& job = given.job;
  const bool asks = is_open(job);
  const int together = options.topology        ? 1
                       : options.hosts.empty() ? job.placement.ranks
                                               : most_on_one_host(options.hosts);
  const MachineRates rates = options.rates ? *options.rates : measured_rates(together, options.threads);
  const double link =
      options.link > 0 ? options.link : *parse_rate(asks ? job.strategy.options.text("link") : kUsualLink);
  Comparison comparison{
      .dataset = dataset.meta().name,
      .topology = options.topology ? *options.topology
                                   : usual_topology(options.hosts.empty() ? servers_of(job) : options.hosts,
                                                    link, rates, options.threads),
      .exact = asks && job.strategy.options.flag("exact")};
  const std::string wire = job.strategy.wire == Precision::kBFloat16 ? ":wire=bfloat16" : "";
  comparison.rows = Comparing(arguments, dataset, comparison.topology, rates, options, wire, say).rows();
  TrialBounds bounds{.steps = options.trial.value_or(0), .threads = options.threads};
  if (asks && !options.trial) {
    bounds.steps = job.strategy.options.integer("trial");
    bounds.share = job.strategy.options.number("trialShare");
  }
  if (bounds.steps > 0 && !comparison.exact)
    try_strategies(
        comparison, dataset, bounds,
        [&](const std::string& change) { return with_change(arguments, change, options, say_nothing); }, say);
  return comparison;
}

ChosenStrategy choose_strategy(const Arguments& arguments, const LoadedJob& given, const Dataset& dataset,
                               const CompareOptions& options, Say say) {
  const Comparison comparison = compare_strategies(arguments, given, dataset, options, say);
  const ComparedStrategy* best = comparison.best(comparison.exact);
  if (best == nullptr)
    fail(
        "{}: strategy.kind: auto: none of the {}strategies can be chosen; {} is {} (atoll plan --compare says why of all)",
        where_of(given.given, "strategy.kind"), comparison.exact ? "exact " : "",
        comparison.rows.front().label, comparison.rows.front().refused);
  return {with_change(arguments, best->change, options, say), best->change.substr(best->change.find('=') + 1),
          why(comparison, *best)};
}

LoadedJob concrete_job(const Arguments& arguments, const LoadedJob& given, const Dataset& dataset,
                       const CompareOptions& options, Say say) {
  if (!is_open(given.job)) return given;
  ChosenStrategy choice = choose_strategy(arguments, given, dataset, options, say);
  say("strategy auto is " + choice.why + " (atoll plan --compare shows all)");
  return std::move(choice.job);
}

LoadedJob chosen_before(const Arguments& arguments, const LoadedJob& given,
                        const std::filesystem::path& manifest, Say say) {
  load_job(manifest);  // throws Error unless it is a manifest
  std::ostringstream text;
  text << std::ifstream(manifest).rdbuf();
  const Node spec = *parse_yaml(text.str(), manifest.string()).front().find("spec");
  const Node* strategy = spec.find("strategy");
  LoadedJob loaded = with_change(
      arguments, "strategy=" + (strategy != nullptr ? to_json(*strategy) : "{kind: graph}"), {}, say);
  if (given.job.strategy.options.flag("exact") && !is_exact(loaded.job))
    fail(
        "{}: strategy.exact: true: the run in {} is of {}, which isn't exact (exact: false goes on with it, --fresh starts over)",
        where_of(given.given, "strategy.exact"), manifest.parent_path().string(),
        loaded.job.strategy.row->kind);
  return loaded;
}

void check_concrete(const Job& job) {
  if (is_open(job))
    fail(
        "strategy.kind: {} stands for another strategy, which `atoll run` chooses and `atoll plan --compare` names (give that one)",
        job.strategy.row->kind);
}

}  // namespace atl
