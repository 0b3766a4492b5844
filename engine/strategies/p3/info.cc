// Strategy `p3` (Gandhi & Iyer 2021, "P3: Distributed Deep Graph Learning at Scale"): mini-batches whose features don't travel. Each server
// has some of the features' columns, of all vertices. Every rank computes the first layer of everybody's batch in its columns, and the
// summands are made whole at the batch's owner; the other layers are data parallel.
#include "strategies/p3/info.h"

#include "job/option_field.h"
#include "job/strategies/batch_options.h"

namespace atl {
namespace {

constexpr const char* kSource = "Gandhi & Iyer 2021";

std::vector<Field> column_options() {
  std::vector<Field> options;
  options.push_back(strategy_option(
      "p3", "columns", std::string("server"),
      {.description = "what the features' columns are divided over",
       .choices = {{"server", "servers (placement.ranksPerServer), whose ranks all have its columns"},
                   {"rank", "ranks: less memory, and more summands"}},
       .source = kSource}));
  options.push_back(
      strategy_option("p3", "copies", std::int64_t{1},
                      {.description = "how many servers, or ranks, have the same columns: more send fewer "
                                      "summands and take more memory; it must divide their number",
                       .minimum = 1,
                       .maximum = 4096,
                       .source = kSource}));
  options.push_back(strategy_option(
      "p3", "delay", std::int64_t{0},
      {.description =
           "optimiser steps between reading weights and taking the gradient: 0, one batch at a time, or 3, "
           "the paper's pipeline of batches, which wants a training.optimizer.learningRate of 0.003 or less",
       .unit = "steps",
       .minimum = 0,
       .maximum = 3,
       .source = kSource}));
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
          .source = kSource,
          .options = std::move(options),
          .defaults = {{"placement.partitioner.kind", "hash", kSource}},
          .layout = own_parts,
          .divide =
              [](const Job& job) {
                return JobDivision{.pieces = column_grid(job).pieces(),
                                   .pieces_field = "strategy.p3.columns"};
              },
          .traffic = batch_traffic,
          .flows = batch_flows,
          .hides = [](const Options&) { return true; },
          .several_steps = true,
          .several_parts = true,
          .draws_neighbours = draws_some_neighbours,
          .side_threads = batch_threads,
          .memory_budget = copies_budget,
          .variants = [](const Job&) { return std::vector<std::string>{"delay=3"}; },
          .kept_rows = "weights of steps under way",
          .rules = p3_rules()};
}

}  // namespace atl
