// Strategy `granndis`: each server holds copies of all or some of the vertices that its own depend on, so
// that only its own ranks exchange rows with each other (Song et al. 2024, "GraNNDis").
#include "strategies/granndis/info.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "job/field.h"
#include "job/models.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"

namespace atl {
namespace {

std::vector<Field> granndis_options() {
  const char* source = "Song et al. 2024";
  std::vector<Field> options;
  options.push_back(strategy_option(
      "granndis", "hops", std::int64_t{0},
      {.description =
           "layers that read neighbours from the server's copies, the first ones; the layers behind them compute own "
           "vertices alone and exchange rows with the other servers, exactly; fewer hops are fewer copies and "
           "more bytes between servers (maxHop is another thing: it leaves out what lies beyond it)",
       .unit = "layers",
       .minimum = 0,
       .maximum = 1024,
       .source = source,
       .default_text = "all of them: servers exchange nothing but gradients"}));
  options.push_back(strategy_option(
      "granndis", "maxHop", std::int64_t{1},
      {.description =
           "how far from its own vertices a server takes copies of other servers' vertices; what lies "
           "beyond is left out; 0: as far as the layers that read copies reach (hops), which with fanout −1 is exact",
       .unit = "hops",
       .minimum = 0,
       .maximum = 1024,
       .source = source}));
  options.push_back(strategy_option(
      "granndis", "fanout", std::int64_t{15},
      {.description = "copies that a vertex asks for at most, of its neighbours on other servers; "
                      "neighbours on its own server are all read; −1: all",
       .unit = "vertices",
       .minimum = -1,
       .maximum = 1e6,
       .source = source}));
  options.push_back(strategy_option(
      "granndis", "redraw", std::string("once"),
      {.description = "when copies are drawn",
       .choices = {{"once", "before training, as the authors' code does"},
                   {"epoch",
                    "anew in each epoch, which a thread of each rank reads while the epoch before trains"}},
       .source = source}));
  options.push_back(strategy_option(
      "granndis", "batches", std::int64_t{1},
      {.description =
           "batches that each server's own vertices are trained in, an optimiser step each: neighbours together, with what they "
           "depend on, over all of the server's ranks; the next one is read while one trains",
       .unit = "batches",
       .minimum = 1,
       .maximum = 65536,
       .source = source}));
  options.push_back(strategy_option(
      "granndis", "memoryBudget", std::int64_t{0},
      {.type = FieldType::kBytes,
       .description =
           "what a rank's planned peak must not pass: training.recompute and batches are chosen for it where they "
           "aren't given, by atoll run and atoll plan; 0: no limit",
       .unit = "bytes",
       .minimum = 0,
       .may_change = true}));
  return options;
}

Layout granndis_layout(const Job& job) {
  Layout layout = consecutive_ranks(job);
  layout.ranks_are_alike = false;
  for (std::size_t server = 0; server < layout.groups.size(); ++server)
    layout.holds.push_back(fmt::format("server {} and its copies", server));
  return layout;
}

int servers(const Job& job) {
  const int together = ranks_of_a_server(job);
  return job.placement.ranks % together == 0 ? job.placement.ranks / together : 1;
}

/// How many values travel for a row of the cut in a layer's forward passes: the first one, and the one that
/// backward repeats. The row's gradient goes back once.
Index brought(const TrafficShape& shape, std::size_t layer) {
  return shape.widths[layer] + (layer < shape.repeated_widths.size() ? shape.repeated_widths[layer] : 0);
}

EpochTraffic granndis_traffic(const Options& given, const TrafficShape& shape) {
  EpochTraffic sum;
  sum.gradient = given.integer("batches") * gradient_bytes(shape);
  for (std::size_t layer = 0; layer < shape.server_cut.size(); ++layer)
    for (const CutRows& each : shape.server_cut[layer]) {
      const std::int64_t once = each.rows * shape.widths[layer] * shape.bytes_per_value;
      sum.halo += once, sum.halo_gradient += once;
      sum.recompute += each.rows * brought(shape, layer) * shape.bytes_per_value - once;
    }
  return sum;
}

std::vector<PairBytes> granndis_flows(const Options& given, const TrafficShape& shape,
                                      const std::vector<CutRows>&) {
  std::vector<PairBytes> all = gradient_flows(shape);
  for (PairBytes& each : all) each.bytes *= double(given.integer("batches"));
  for (std::size_t layer = 0; layer < shape.server_cut.size(); ++layer)
    for (const auto& [from, to, rows] : shape.server_cut[layer]) {
      const auto forward = double(rows * brought(shape, layer) * shape.bytes_per_value);
      all.push_back({from, to, forward, forward});
      all.push_back({to, from, double(rows * shape.widths[layer] * shape.bytes_per_value)});
    }
  return all;
}

const std::string kNoCopies =
    "takes no copies: the graph would be cut between servers (use 1 or more, or −1 for all)";

void some_copies(const Check& c) {
  if (c.job.strategy.options.integer("fanout") == 0) c.error("strategy.granndis.fanout", "{}", kNoCopies);
}

Rule some_copies_rule() {
  return {some_copies, {{"strategy.granndis", "fanout", "!has(self.fanout) || self.fanout != 0", kNoCopies}}};
}

const std::string kNothingToDraw =
    "draws nothing with fanout −1, which takes all copies (use once, or a fanout of 1 or more)";

void something_to_draw(const Check& c) {
  if (c.job.strategy.options.text("redraw") == "once") return;
  if (c.job.strategy.options.integer("fanout") < 0)
    c.error("strategy.granndis.redraw", "epoch {}", kNothingToDraw);
}

Rule something_to_draw_rule() {
  return {something_to_draw,
          {{"strategy.granndis", "redraw",
            "!has(self.redraw) || self.redraw == 'once' || !has(self.fanout) || self.fanout >= 0",
            "epoch " + kNothingToDraw}}};
}

void hops_of_the_layers(const Check& c) {
  const std::int64_t hops = c.job.strategy.options.integer("hops");
  const int all = gathering_layers(c.job.model);
  if (hops > all)
    c.error("strategy.granndis.hops",
            "{} is more than the layers that read neighbours: {} is {} (use 1 to {}, or 0 for all)", hops,
            layers_field(c.job.model), all, all);
}

const std::string kNobodyComputes =
    "is for 1 batch: of several, nobody computes the rows of other servers that layers beyond would read (leave hops out, or use 1 batch)";

void batches_of_whole_servers(const Check& c) {
  const Options& given = c.job.strategy.options;
  if (given.integer("batches") > 1 && given.integer("hops") > 0)
    c.error("strategy.granndis.hops", "{}", kNobodyComputes);
}

Rule batches_of_whole_servers_rule() {
  return {
      batches_of_whole_servers,
      {{"strategy.granndis", "hops",
        "!has(self.batches) || self.batches == 1 || !has(self.hops) || self.hops == 0", kNobodyComputes}}};
}

const std::string kPairsOfBatches =
    "is for 1 batch with task linkPrediction: the ends of a pair would be in different ones (leave batches and memoryBudget out)";

void pairs_of_batches(const Check& c) {
  const Options& given = c.job.strategy.options;
  if (c.job.task != Task::kLinkPrediction) return;
  for (const auto& [option, most] : {std::pair("batches", 1), std::pair("memoryBudget", 0)})
    if (given.integer(option) > most)
      c.error(std::string("strategy.granndis.") + option, "{}", kPairsOfBatches);
}

/// Warns where a server needs no copies, and about copies that no layer reads.
void copies_that_are_read(const Check& c) {
  const Expansion given = expansion_of(c.job);
  if (servers(c.job) == 1 && given.batches == 1)
    return c.warning("strategy.kind",
                     "granndis on one server is graph: no vertex is another server's (use graph, or {})",
                     c.job.placement.ranks == 1
                         ? "more placement.ranks"
                         : fmt::format("a placement.ranksPerServer from 1 to {}", c.job.placement.ranks - 1));
  if (given.max_hop > given.hops)
    c.warning(
        "strategy.granndis.maxHop",
        "is {}, and {} read copies: of all copies those farther away are read by none, of a sample by few (use {}, or 0)",
        given.max_hop, counted_text(given.hops, "layer"), given.hops);
}

constexpr int kMostBatches = 64;  // the most that are tried; each try makes a plan

Job in_batches(Job job, int batches) {
  job.strategy.options.set("batches", std::int64_t(batches));
  return job;
}

MemoryBudget::Way granndis_way(const Job& job, Recompute recompute, int batches) {
  MemoryBudget::Way way{in_batches(job, batches),
                        fmt::format("training.recompute: {} and strategy.granndis.batches: {}",
                                    recompute == Recompute::kLayer ? "layer" : "none", batches)};
  way.job.training.recompute = recompute;
  return way;
}

/// Recomputing is tried first: it costs a third more work, but learns the same. More batches make more steps
/// of an epoch.
MemoryBudget batches_budget(const Job& job, const Given& given) {
  MemoryBudget budget{"strategy.granndis.memoryBudget", job.strategy.options.integer("memoryBudget")};
  Recompute recompute = job.training.recompute;
  int batches = expansion_of(job).batches;
  budget.ways.push_back(granndis_way(job, recompute, batches));
  if (recompute == Recompute::kNone && !given.contains("training.recompute"))
    budget.ways.push_back(granndis_way(job, recompute = Recompute::kLayer, batches));
  if (given.contains("strategy.granndis.batches") || job.strategy.options.integer("hops") > 0) return budget;
  while ((batches *= 2) <= kMostBatches) budget.ways.push_back(granndis_way(job, recompute, batches));
  return budget;
}

}  // namespace

int ranks_of_a_server(const Job& job) {
  return std::clamp(job.placement.ranks_per_server, 1, std::max(1, job.placement.ranks));
}

Expansion expansion_of(const Job& job) {
  const Options& given = job.strategy.options;
  const int layers = gathering_layers(job.model);
  const auto max_hop = int(given.integer("maxHop")), fanout = int(given.integer("fanout"));
  const int asked = int(given.integer("hops")), hops = asked == 0 ? layers : std::min(asked, layers);
  return {hops,
          layers - hops,
          max_hop == 0 ? hops : max_hop,
          fanout,
          fanout < 0 && (max_hop == 0 || max_hop >= hops),
          given.text("redraw") == "epoch",
          int(given.integer("batches"))};
}

StrategyInfo granndis_strategy() {
  return {
      .kind = "granndis",
      .description = "each server holds copies of what its vertices depend on, all or a sample",
      .source = "Song et al. 2024",
      .options = granndis_options(),
      .layout = granndis_layout,
      .divide = [](const Job& job) { return JobDivision{.servers = servers(job)}; },
      .traffic = granndis_traffic,
      .flows = granndis_flows,
      .planned_bytes =
          [](const Job& job) {
            return expansion_of(job).redraws ? PlannedBytes::kOfTheFirst : PlannedBytes::kOfEach;
          },
      .several_steps = true,
      .side_threads =
          [](const Job& job, int) {
            const Expansion expansion = expansion_of(job);
            return expansion.redraws || expansion.batches > 1 ? 1 : 0;
          },
      .memory_budget = batches_budget,
      .exact = [](const Job& job) { return expansion_of(job).is_exact && expansion_of(job).batches == 1; },
      .variants = [](const Job&) { return std::vector<std::string>{"maxHop=0:fanout=-1"}; },
      .rules = {some_copies_rule(),
                something_to_draw_rule(),
                {hops_of_the_layers, {}},
                batches_of_whole_servers_rule(),
                {pairs_of_batches},
                {copies_that_are_read}}};
}

}  // namespace atl
