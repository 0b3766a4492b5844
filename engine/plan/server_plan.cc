#include "plan/server_plan.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/text.h"
#include "job/strategies.h"
#include "partition/server_batches.h"

namespace atl {

const std::vector<RankShape>& ServerShapes::of(Rank rank, const GraphMarks& marks, int ranks) {
  ServerOptions options = strategy_of(job_).server(job_, rank, 1);
  options.induced_on = marks.induced_on;
  beyond_ = options.beyond;
  const auto place = std::size_t(rank - options.first_part);
  if (options.first_part == first_part_) return shapes_[place];
  first_part_ = options.first_part;
  shapes_.assign(std::size_t(options.parts), {});
  Index most = -1;
  for (const ServerGraph& held : server_graphs(prepared_, options, marks.counted)) {
    for (int part = 0; part < options.parts; ++part) {
      const auto local =
          localize(held.view(), Rank(first_part_ + part), {.ranks = PartRanks::of_group(Rank(first_part_))});
      local->counted = held.counted[std::size_t(part)];
      RankShape& shape = shapes_[std::size_t(part)].emplace_back(
          rank_shape(*local, near_blocks(held, *local, options.layers, false), ranks));
      shape.server_bytes = held.bytes(), shape.is_followed = options.redraws || options.batches > 1;
    }
    if (held.bytes() > most) most = held.bytes(), largest_ = shapes_[0].size() - 1;
  }
  return shapes_[place];
}

int server_batches_of(const Job& job) {
  const auto server = strategy_of(job).server;
  return server == nullptr ? 1 : server(job, 0, 1).batches;
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
      server.batches.resize(of.memory.batches.size(), 0);
      for (std::size_t b = 0; b < server.batches.size(); ++b) server.batches[b] += of.memory.batches[b];
      server.computed.resize(of.shape.near.size(), 0);
      for (std::size_t l = 0; l < server.computed.size(); ++l)
        server.computed[l] += of.shape.near[server.computed.size() - 1 - l].rows;
    }
  }
  return servers;
}

namespace {

/// Of many batches, the largest and the smallest.
std::string batches_text(const std::vector<ServerPlan>& servers) {
  constexpr std::size_t kRows = 16;
  const std::size_t batches = servers.front().batches.size();
  const auto row = [&](const std::string& name, auto&& figure) {
    std::string line = fmt::format("  {:<26}", name);
    for (const ServerPlan& each : servers) line += fmt::format("{:>14}", bytes_text(double(figure(each))));
    return line + "\n";
  };
  std::string text;
  for (std::size_t b = 0; b < batches && batches <= kRows; ++b)
    text += row(fmt::format("  of it batch {}", b + 1), [&](const ServerPlan& s) { return s.batches[b]; });
  if (batches <= kRows) return text;
  return row("  of it the largest batch", [](const ServerPlan& s) { return std::ranges::max(s.batches); }) +
         row("  of it the smallest batch", [](const ServerPlan& s) { return std::ranges::min(s.batches); });
}

}  // namespace

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
  const std::size_t batches = servers.front().batches.size();
  const std::string held =
      batches == 0 ? "held by each server" : fmt::format("largest of {} batches", batches);
  return row(held, number) +
         row("own vertices", [](const ServerPlan& s, std::size_t) { return count_text(s.own); }) +
         row("copies of others'", [](const ServerPlan& s, std::size_t) { return count_text(s.copies); }) +
         row("share of copies",
             [](const ServerPlan& s, std::size_t) { return percent_text(s.share_of_copies()); }) +
         computed + row("arcs", [](const ServerPlan& s, std::size_t) { return count_text(s.arcs); }) +
         row("memory of its ranks",
             [](const ServerPlan& s, std::size_t) { return bytes_text(double(s.bytes)); }) +
         batches_text(servers) + "\n";
}

std::string line_of(const ServerPlan& s, int number) {
  const std::string at_most =
      s.batches.empty() ? "" : fmt::format(" in the largest of {} batches", s.batches.size());
  return fmt::format("server {} holds {} vertices of its own and {} copies of others' ({}), {} arcs{}: {}",
                     number, count_text(s.own), count_text(s.copies), percent_text(s.share_of_copies()),
                     count_text(s.arcs), at_most, bytes_text(double(s.bytes)));
}

}  // namespace atl
