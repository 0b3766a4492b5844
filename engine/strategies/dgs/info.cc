// Strategy `dgs` (Wan et al. 2022, "DGS: Communication-Efficient Graph Sampling for Distributed GNN
// Training"): mini-batches that fetch less from other ranks. While it trains, each rank explains its model's
// predictions: which vertices of other ranks matter, and which features. It draws fewer neighbours on other
// ranks, preferring vertices that matter, and fetches only the features that matter most.
#include "strategies/dgs/info.h"

#include "base/error.h"
#include "base/text.h"
#include "job/field.h"
#include "job/rule.h"
#include "job/strategies/batch_options.h"

namespace atl {
namespace {

constexpr const char* kDgsPaper = "DGS, Wan et al. 2022";
constexpr const char* kExplainer = "GNNExplainer, Ying et al. 2019";

Field choice(const std::string& name, const std::string& initial, std::string description,
             std::vector<Choice> choices) {
  return strategy_option(
      "dgs", name, initial,
      {.description = std::move(description), .choices = std::move(choices), .source = kDgsPaper});
}

/// Options that say which masks are used, and how.
std::vector<Field> mask_options() {
  return {
      choice("vertices", "explained", "how neighbours on other ranks are drawn",
             {{"explained", "by how much they matter, and fewer of them (epsilon)"},
              {"random", "as all neighbours are"}}),
      choice("features", "explained", "which feature columns of other ranks' vertices are fetched",
             {{"explained", "those that matter most to the rank"}, {"random", "some, drawn for each step"}}),
      strategy_option("dgs", "epsilon", 0.1,
                      {.description = "share of a vertex's draws that is moved from neighbours on other "
                                      "ranks to those on its own",
                       .minimum = 0,
                       .maximum = 1,
                       .below_maximum = true,
                       .source = kDgsPaper}),
      choice("split", "neighbours",
             "the share of a vertex's draws that goes to neighbours on other ranks, before epsilon",
             {{"neighbours", "their share of its neighbours"},
              {"mask", "the sum of their masks, where those on its own rank count 1 each"}}),
      choice("probability", "odds",
             "what the chance of a neighbour on another rank is proportional to, by its mask s",
             {{"mask", "s"}, {"odds", "s / (1 - s)"}})};
}

/// Options that say how masks are trained.
std::vector<Field> explainer_options() {
  std::vector<Field> options;
  options.push_back(strategy_option(
      "dgs", "explainEvery", std::int64_t{30},
      {.description =
           "steps from one explanation to the next; masks apply so many steps after they were begun",
       .unit = "steps",
       .minimum = 1,
       .maximum = 1e9,
       .source = kDgsPaper}));
  options.push_back(strategy_option("dgs", "explainEpochs", std::int64_t{50},
                                    {.description = "the most that an explanation's masks are trained",
                                     .unit = "epochs",
                                     .minimum = 1,
                                     .maximum = 100'000,
                                     .source = kDgsPaper}));
  options.push_back(
      strategy_option("dgs", "lossThreshold", 0.01,
                      {.description = "loss of the explanation at which its masks are good enough",
                       .minimum = 0,
                       .source = kDgsPaper}));
  options.push_back(strategy_option("dgs", "explainRate", 0.01,
                                    {.description = "learning rate of masks",
                                     .minimum = 0,
                                     .maximum = 10,
                                     .above_minimum = true,
                                     .source = kExplainer}));
  options.push_back(choice("label", "batch",
                           "the label of the explanation's vertex, which stands for the whole rank",
                           {{"batch", "the mean of the labels of the rank's vertices in the step"},
                            {"star", "what the model predicts for it with nothing masked"}}));
  return options;
}

/// Of the structures, leaves only `partitioned`. A vertex's neighbours must be drawn by its owner, which has
/// the masks.
std::vector<Field> partitioned_alone() {
  std::vector<Field> options = making_options("dgs");
  for (Field& each : options)
    std::erase_if(each.choices, [&](const Choice& c) {
      return each.path == "strategy.dgs.structure" && c.name != "partitioned";
    });
  return options;
}

void others_to_explain(const Check& c) {
  if (c.job.placement.ranks == 1)
    c.warning(
        "strategy.kind",
        "dgs on one rank is minibatch: no vertex is another rank's, and options of masks and explanations have no "
        "effect (use minibatch, or more ranks)");
}

/// Warns about options of masks by which nothing is drawn or fetched.
void options_of_masks(const Check& c) {
  if (c.job.placement.ranks == 1) return;
  check_feature_options(c);
  const Options& given = c.job.strategy.options;
  if (explains_vertices(c.job)) return;
  for (const char* option : {"epsilon", "split", "probability"})
    warn_without_effect(c, std::string("strategy.dgs.") + option, "with vertices: random");
  if (given.text("features") == "explained" && given.number("featureRate") != 1) return;
  for (const char* option : {"explainEvery", "explainEpochs", "lossThreshold", "explainRate", "label"})
    warn_without_effect(c, std::string("strategy.dgs.") + option, "where nothing is explained");
}

}  // namespace

bool explains_vertices(const Job& job) {
  return job.strategy.options.text("vertices") == "explained";
}

bool explains_features(const Job& job, std::int64_t columns) {
  return job.strategy.options.text("features") == "explained" && feature_rate(job, columns) < 1;
}

std::int64_t epochs_of_masks(const Job& job) {
  return job.strategy.options.integer("explainEpochs");
}

std::int64_t steps_between_masks(const Job& job, std::int64_t columns) {
  const Options& given = job.strategy.options;
  if (!given.has("explainEvery") || !(explains_vertices(job) || explains_features(job, columns))) return 0;
  return given.integer("explainEvery");
}

std::string masks_too_late(const Job& job, std::int64_t columns, std::int64_t steps) {
  const std::int64_t every = steps_between_masks(job, columns);
  if (every == 0 || job.placement.ranks == 1 || steps > every) return "";
  return fmt::format(
      "strategy.dgs.explainEvery: masks apply from step {} on, and the run has {}: it is as under minibatch, with all "
      "features fetched{}",
      every + 1, counted_text(steps, "step"),
      steps < 2 ? " (give more epochs, or a smaller batchSize)"
                : fmt::format(" (use {} or less, or more epochs)", steps - 1));
}

StrategyInfo dgs_strategy() {
  std::vector<Field> options = drawing_options("dgs");
  for (auto& more : {partitioned_alone(), mask_options(), feature_options("dgs", 0), explainer_options()})
    options.insert(options.end(), more.begin(), more.end());
  return {
      .kind = "dgs",
      .description = "mini-batches that fetch from other ranks only what an explanation scores high",
      .source = kDgsPaper,
      .options = std::move(options),
      .layout = own_parts,
      .traffic = batch_traffic,
      .flows = batch_flows,
      .planned_bytes = bytes_of_first_batches,
      .hides = [](const Options&) { return true; },
      .several_steps = true,
      .several_parts = true,
      .draws_neighbours = draws_some_neighbours,
      .side_threads = batch_threads,
      .advice =
          [](const Job& job, const RunFacts& run) {
            const std::string late = run.learns ? masks_too_late(job, run.columns, run.steps) : "";
            return late.empty() ? std::vector<std::string>{} : std::vector{late};
          },
      .kept_rows = "masks",
      .no_pairs = "it explains what vertices' classes depend on",
      .rules = {{check_batch_fanout, {batch_fanout_rule("dgs")}}, {others_to_explain}, {options_of_masks}}};
}

}  // namespace atl
