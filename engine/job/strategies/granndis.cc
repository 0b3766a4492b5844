// Strategy `granndis`: each server holds copies of the vertices that its own depend on, or of some of them, so that only its ranks
// exchange rows with each other (Song et al. 2024, "GraNNDis").
#include "job/strategies/granndis.h"

#include <fmt/format.h>

#include <algorithm>

#include "job/models.h"
#include "job/option_field.h"
#include "job/strategies.h"
#include "job/strategies/boundary_rows.h"

namespace atl {
namespace {

std::vector<Field> options() {
  const char* source = "Song et al. 2024";
  std::vector<Field> options;
  options.push_back(strategy_option(
      "granndis", "maxHop", std::int64_t{1},
      {.description =
           "how far from its own vertices a server takes copies of other servers' vertices; what lies "
           "beyond is left out; 0: as far as the layers reach, which with fanout −1 is exact",
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
                    "anew in each epoch, which costs each epoch the time to cut the server's graph again"}},
       .source = source}));
  return options;
}

Layout layout(const Job& job) {
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

/// Values that a row of the cut brings in a layer's forward passes; its gradient goes back once.
Index brought(const TrafficShape& shape, std::size_t layer) {
  return shape.widths[layer] + (layer < shape.repeated_widths.size() ? shape.repeated_widths[layer] : 0);
}

EpochTraffic traffic(const Options&, const TrafficShape& shape) {
  EpochTraffic sum;
  sum.gradient = gradient_bytes(shape);
  for (std::size_t layer = 0; layer < shape.server_cut.size(); ++layer)
    for (const CutRows& each : shape.server_cut[layer]) {
      const std::int64_t once = each.rows * shape.widths[layer] * shape.bytes_per_value;
      sum.halo += once, sum.halo_gradient += once;
      sum.recompute += each.rows * brought(shape, layer) * shape.bytes_per_value - once;
    }
  return sum;
}

std::vector<PairBytes> flows(const Options&, const TrafficShape& shape, const std::vector<CutRows>&) {
  std::vector<PairBytes> all = gradient_flows(shape);
  for (std::size_t layer = 0; layer < shape.server_cut.size(); ++layer)
    for (const auto& [from, to, rows] : shape.server_cut[layer]) {
      const auto forward = double(rows * brought(shape, layer) * shape.bytes_per_value);
      all.push_back({from, to, forward, forward});
      all.push_back({to, from, double(rows * shape.widths[layer] * shape.bytes_per_value)});
    }
  return all;
}

Job with_copies(Job job, int hops, std::int64_t fanout) {
  if (fanout < 0) job.strategy.options.set("redraw", std::string("once"));
  job.strategy.options.set("maxHop", std::int64_t(hops));
  job.strategy.options.set("fanout", fanout);
  return job;
}

/// The largest fanout of so many hops that fits, below one that doesn't (−1: all); 0: none. More copies of a draw are those of a
/// smaller one and others, so that what fits is found by halving.
std::int64_t largest_fanout(const Job& job, int hops, std::int64_t too_many,
                            FunctionRef<bool(const Job&)> fits) {
  constexpr std::int64_t kMost = 1'000'000;  // that a manifest may ask for
  const auto holds = [&](std::int64_t fanout) { return fits(with_copies(job, hops, fanout)); };
  if (too_many == 1 || !holds(1)) return 0;
  std::int64_t low = 1, high = too_many;
  while (high < 0 && 2 * low <= kMost) {
    if (holds(2 * low))
      low *= 2;
    else
      high = 2 * low;
  }
  if (high < 0) return low;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

/// Fewer copies of as many hops, else fewer hops.
std::string lighter(const Job& job, FunctionRef<bool(const Job&)> fits) {
  const Expansion given = expansion_of(job);
  for (int hops = given.hops; hops >= 1; --hops) {
    const bool as_many = hops < given.hops && fits(with_copies(job, hops, given.fanout));
    const std::int64_t fanout = as_many ? given.fanout : largest_fanout(job, hops, given.fanout, fits);
    if (fanout != 0) return fmt::format("strategy.granndis: {{maxHop: {}, fanout: {}}}", hops, fanout);
  }
  return "";
}

const std::string kNoCopies =
    "takes no copies: the graph would be cut between servers (use 1 or more, or −1 for all)";

void some_copies(const Check& c) {
  if (c.job.strategy.kind == "granndis" && c.job.strategy.options.integer("fanout") == 0)
    c.error("strategy.granndis.fanout", "{}", kNoCopies);
}

Rule some_copies_rule() {
  return {some_copies, {{"strategy.granndis", "fanout", "!has(self.fanout) || self.fanout != 0", kNoCopies}}};
}

const std::string kNothingToDraw =
    "draws nothing with fanout −1, which takes all copies (use once, or a fanout of 1 or more)";

void something_to_draw(const Check& c) {
  if (c.job.strategy.kind != "granndis" || c.job.strategy.options.text("redraw") == "once") return;
  if (c.job.strategy.options.integer("fanout") < 0)
    c.error("strategy.granndis.redraw", "epoch {}", kNothingToDraw);
}

Rule something_to_draw_rule() {
  return {something_to_draw,
          {{"strategy.granndis", "redraw",
            "!has(self.redraw) || self.redraw == 'once' || !has(self.fanout) || self.fanout >= 0",
            "epoch " + kNothingToDraw}}};
}

}  // namespace

int ranks_of_a_server(const Job& job) {
  return std::clamp(job.placement.ranks_per_server, 1, std::max(1, job.placement.ranks));
}

Expansion expansion_of(const Job& job) {
  const Options& given = job.strategy.options;
  const int reach = gathering_layers(job.model);
  const auto hops = int(given.integer("maxHop")), fanout = int(given.integer("fanout"));
  return {hops == 0 ? reach : hops, fanout, fanout < 0 && (hops == 0 || hops >= reach),
          given.text("redraw") == "epoch"};
}

StrategyInfo granndis_strategy() {
  return {.kind = "granndis",
          .description = "each server holds copies of what its vertices depend on, all or a sample",
          .source = "Song et al. 2024",
          .built = true,
          .options = options(),
          .layout = layout,
          .servers = servers,
          .traffic = traffic,
          .flows = flows,
          .lighter = lighter,
          .rules = {some_copies_rule(), something_to_draw_rule()}};
}

}  // namespace atl
