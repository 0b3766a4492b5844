// Strategy `p3` (Gandhi & Iyer 2021, "P3: Distributed Deep Graph Learning at Scale"): mini-batches whose
// features don't travel. Each server has some of the features' columns, of all vertices. Every rank computes
// the first layer of everybody's batch in its columns, and the summands are made whole at the batch's owner;
// the other layers are data parallel.
#include "strategies/p3/info.h"

#include <fmt/format.h>

#include "base/text.h"
#include "job/field.h"
#include "job/rule.h"
#include "job/strategies/batch_options.h"

namespace atl {
namespace {

constexpr const char* kP3Paper = "Gandhi & Iyer 2021";

std::vector<Field> column_options() {
  std::vector<Field> options;
  options.push_back(strategy_option(
      "p3", "columns", std::string("server"),
      {.description = "what the features' columns are divided over",
       .choices = {{"server", "servers (placement.ranksPerServer), whose ranks all have its columns"},
                   {"rank", "ranks: less memory, and more summands"}},
       .source = kP3Paper}));
  options.push_back(
      strategy_option("p3", "copies", std::int64_t{1},
                      {.description = "how many servers, or ranks, have the same columns: more send fewer "
                                      "summands and take more memory; it must divide their number",
                       .minimum = 1,
                       .maximum = 4096,
                       .source = kP3Paper}));
  options.push_back(strategy_option(
      "p3", "delay", std::int64_t{0},
      {.description =
           "optimiser steps between reading weights and taking the gradient: 0, one batch at a time, or 3, "
           "the paper's pipeline of batches: adam and adamw then predict the weights that batches read, and "
           "average gradients over four times as many steps; it wants a training.optimizer.learningRate of "
           "0.003 or less",
       .unit = "steps",
       .minimum = 0,
       .maximum = 3,
       .source = kP3Paper}));
  options.push_back(strategy_option(
      "p3", "memoryBudget", std::int64_t{0},
      {.type = FieldType::kBytes,
       .description = "what a rank's planned peak must not pass: the most copies that fit are "
                      "chosen where copies isn't given, by atoll run and atoll plan; 0: no limit",
       .unit = "bytes",
       .minimum = 0,
       .may_change = true}));
  return options;
}

int holders(const Job& job) {
  return column_grid(job).holders;
}

/// The most copies come first: they send least.
MemoryBudget copies_budget(const Job& job, const Given& given) {
  MemoryBudget budget{"strategy.p3.memoryBudget", job.strategy.options.integer("memoryBudget")};
  const bool is_given = given.contains("strategy.p3.copies");
  for (int copies = holders(job); copies >= 1; --copies) {
    if (holders(job) % copies != 0 || (is_given && copies != column_grid(job).copies)) continue;
    MemoryBudget::Way way{job, fmt::format("strategy.p3.copies: {}", copies)};
    way.job.strategy.options.set("copies", std::int64_t(copies));
    budget.ways.push_back(std::move(way));
  }
  return budget;
}

std::vector<std::string> late_gradients_advice(const Job& job, const RunFacts& run) {
  std::vector<std::string> all;
  if (run.learns || !has_late_gradients(job)) return all;
  if (const double rate = rate_of_late_gradients(job); rate > 0)
    all.push_back(fmt::format("lower training.optimizer.learningRate ({}) to {} or less",
                              job.training.optimizer.learning_rate, rate));
  all.emplace_back("set strategy.p3.delay: 0, for this strategy's gradients are late");
  return all;
}

}  // namespace

std::vector<Rank> ColumnGrid::group_of(Rank rank) const {
  const int holder = rank / together, first = holder / pieces() * pieces();
  std::vector<Rank> group;
  for (int piece = 0; piece < pieces(); ++piece)
    group.push_back((first + piece) * together + rank % together);
  return group;
}

std::vector<Rank> ColumnGrid::same_piece(Rank rank) const {
  std::vector<Rank> same;
  for (Rank each = 0; each < holders * together; ++each)
    if (piece_of(each) == piece_of(rank)) same.push_back(each);
  return same;
}

ColumnGrid column_grid(const Job& job) {
  const Options& given = job.strategy.options;
  const int ranks = job.placement.ranks, on_server = std::max(1, job.placement.ranks_per_server);
  ColumnGrid grid;
  if (given.text("columns") == "server" && ranks % on_server == 0) grid.together = on_server;
  grid.holders = ranks / grid.together;
  const auto copies = given.integer("copies");
  if (copies >= 1 && grid.holders % copies == 0) grid.copies = int(copies);
  return grid;
}

int pipeline_delay(const Job& job) {
  return int(job.strategy.options.integer("delay"));
}

StrategyInfo p3_strategy() {
  std::vector<Field> options = drawing_options("p3");
  for (Field& each : making_options("p3")) options.push_back(std::move(each));
  for (Field& each : column_options()) options.push_back(std::move(each));
  return {.kind = "p3",
          .description = "mini-batches; features divided by columns, first layer model parallel",
          .source = kP3Paper,
          .options = std::move(options),
          .defaults = {{"placement.partitioner.kind", "hash", kP3Paper}},
          .layout = own_parts,
          .divide =
              [](const Job& job) {
                return JobDivision{.pieces = column_grid(job).pieces(),
                                   .pieces_field = "strategy.p3.columns"};
              },
          .traffic = batch_traffic,
          .flows = batch_flows,
          .planned_bytes = bytes_of_first_batches,
          .hides = [](const Options&) { return true; },
          .several_steps = true,
          .several_parts = true,
          .draws_neighbours = draws_some_neighbours,
          .side_threads = batch_threads,
          .memory_budget = copies_budget,
          .variants = [](const Job&) { return std::vector<std::string>{"delay=3"}; },
          .advice = late_gradients_advice,
          .kept_rows = "weights of steps under way",
          .rules = p3_rules()};
}

// What the options of strategy `p3` must have in common with the job's ranks.

namespace {

void copies_of_the_holders(const Check& c) {
  const auto copies = c.job.strategy.options.integer("copies");
  const int holders = column_grid(c.job).holders;
  if (holders % copies == 0) return;
  std::vector<int> allowed;
  for (int d = 1; d <= holders; ++d)
    if (holders % d == 0) allowed.push_back(d);
  const bool by_server = c.job.strategy.options.text("columns") == "server";
  c.error("strategy.p3.copies", "{} does not divide the {} {} that columns are divided over (use {})", copies,
          holders, by_server ? "servers" : "ranks", joined(allowed, " or "));
}

/// CEL's message can't list the numbers that divide the holders.
Rule copies_of_the_holders_rule() {
  const std::string p3 = "self.strategy.p3", ranks = kRanksInCel;
  const std::string together = "((!has(" + p3 + ".columns) || " + p3 +
                               ".columns == 'server') && has(self.placement) && "
                               "has(self.placement.ranksPerServer) && self.placement.ranksPerServer > 0 ? "
                               "self.placement.ranksPerServer : 1)";
  return {copies_of_the_holders,
          {{"", "strategy.p3.copies",
            "!has(self.strategy) || !has(" + p3 + ") || !has(" + p3 + ".copies) || (" + ranks + " / " +
                together + ") % " + p3 + ".copies == 0",
            "",
            "'%d does not divide the %d servers or ranks that columns are divided over'.format([" + p3 +
                ".copies, " + ranks + " / " + together + "])"}}};
}

const std::string kNoSuchPipeline =
    "steps of delay are no pipeline (use 0, one batch at a time, or 3, the pipeline of the paper)";

void a_pipeline_that_there_is(const Check& c) {
  const int delay = pipeline_delay(c.job);
  if (delay != 0 && delay != 3) c.error("strategy.p3.delay", "{} {}", delay, kNoSuchPipeline);
}

Rule a_pipeline_that_there_is_rule() {
  return {a_pipeline_that_there_is,
          {{"strategy.p3", "delay", "!has(self.delay) || self.delay == 0 || self.delay == 3", "",
            "'%d " + kNoSuchPipeline + "'.format([self.delay])"}}};
}

void p3_on_several_ranks(const Check& c) {
  warn_of_one_rank(c, "minibatch");
}

/// Up to rate_of_late_gradients() three of four data sets lose less than a point
/// (docs/benchmarks/p3-pipeline-accuracy.md).
void a_rate_for_late_gradients(const Check& c) {
  if (const double highest = rate_of_late_gradients(c.job); highest > 0)
    c.warning(
        "training.optimizer.learningRate",
        "{} is high for gradients that are three steps late, as those of delay 3 are (use {} or less, or compare with delay: 0)",
        c.job.training.optimizer.learning_rate, highest);
}

}  // namespace

bool has_late_gradients(const Job& job) {
  return pipeline_delay(job) > 0 && job.training.optimizer.kind != OptimizerKind::kSgd;
}

double rate_of_late_gradients(const Job& job) {
  constexpr double kHighest = 0.003;
  return has_late_gradients(job) && job.training.optimizer.learning_rate > kHighest ? kHighest : 0;
}

std::vector<Rule> p3_rules() {
  return {{check_batch_fanout, {batch_fanout_rule("p3")}},
          copies_of_the_holders_rule(),
          a_pipeline_that_there_is_rule(),
          {p3_on_several_ranks},
          {a_rate_for_late_gradients}};
}

}  // namespace atl
