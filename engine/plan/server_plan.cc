#include "plan/server_plan.h"

#include <fmt/format.h>

#include "base/readable.h"
#include "job/strategies.h"
#include "strategy/strategy.h"

namespace atl {

RankShape ServerShapes::of(Rank rank, std::span<const std::uint8_t> induced_on, int ranks) {
  ServerOptions options = strategy_of(job_).server(job_, rank, 1);
  options.induced_on = induced_on;
  beyond_ = options.beyond;
  if (options.first_part != first_part_) {
    held_ = server_graph(prepared_, options);
    first_part_ = options.first_part;
  }
  const auto local = localize(held_.view(), rank, {.ranks = PartRanks::of_group(Rank(options.first_part))});
  local->counted = held_.counted[std::size_t(local->part)];
  RankShape shape = rank_shape(*local, near_blocks(held_, *local, options.layers, false), ranks);
  shape.server_bytes = held_.bytes(), shape.redraws = options.redraws;
  return shape;
}

std::vector<ServerPlan> server_plans(const Job& job, const std::vector<RankPlan>& ranks) {
  std::vector<ServerPlan> servers;
  if (strategy_of(job).server == nullptr) return servers;
  for (const std::vector<Rank>& group : find_strategy(job.strategy.kind)->layout(job).groups) {
    ServerPlan& server = servers.emplace_back();
    server.ranks = group;
    for (const Rank rank : group) {
      const RankPlan& of = ranks[std::size_t(rank)];
      server.own += of.shape.owned - of.shape.copies;
      server.copies += of.shape.copies;
      server.arcs += of.shape.arcs();
      server.bytes += of.memory.held();
      server.computed.resize(of.shape.near.size(), 0);
      for (std::size_t l = 0; l < server.computed.size(); ++l)
        server.computed[l] += of.shape.near[server.computed.size() - 1 - l].rows;
    }
  }
  return servers;
}

std::string to_text(const std::vector<ServerPlan>& servers) {
  if (servers.empty()) return "";
  const auto row = [&](const std::string& name, auto&& figure) {
    std::string line = fmt::format("  {:<26}", name);
    for (std::size_t i = 0; i < servers.size(); ++i) line += fmt::format("{:>14}", figure(servers[i], i));
    return line + "\n";
  };
  const auto number = [](const ServerPlan&, std::size_t i) { return fmt::format("server {}", i); };
  std::string computed;
  for (std::size_t l = 0; l < servers.front().computed.size(); ++l)
    computed += row(fmt::format("computed by convolution {}", l + 1),
                    [&](const ServerPlan& s, std::size_t) { return count_text(s.computed[l]); });
  return row("held by each server", number) +
         row("own vertices", [](const ServerPlan& s, std::size_t) { return count_text(s.own); }) +
         row("copies of others'", [](const ServerPlan& s, std::size_t) { return count_text(s.copies); }) +
         row("share of copies",
             [](const ServerPlan& s, std::size_t) { return percent_text(s.share_of_copies()); }) +
         computed + row("arcs", [](const ServerPlan& s, std::size_t) { return count_text(s.arcs); }) +
         row("memory of its ranks",
             [](const ServerPlan& s, std::size_t) { return bytes_text(double(s.bytes)); }) +
         "\n";
}

std::string line_of(const ServerPlan& s, int number) {
  return fmt::format("server {} holds {} vertices of its own and {} copies of others' ({}), {} arcs: {}",
                     number, count_text(s.own), count_text(s.copies), percent_text(s.share_of_copies()),
                     count_text(s.arcs), bytes_text(double(s.bytes)));
}

}  // namespace atl
