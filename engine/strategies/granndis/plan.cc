#include "strategies/granndis/plan.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "job/strategies.h"

namespace atl {
namespace {

ServerPlan server_plan(const std::vector<Rank>& group, const std::vector<RankPlan>& ranks) {
  ServerPlan server;
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
  return server;
}

/// Names only the largest and the smallest of many batches.
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

std::shared_ptr<const PlanSection> servers_section(const SectionInput& in, JobPlan& plan) {
  return std::make_shared<const ServersSection>(in.job, plan.ranks);
}

}  // namespace

StrategyPlan granndis_plan() {
  return {.kind = "granndis", .section = servers_section};
}

ServersSection::ServersSection(const Job& job, const std::vector<RankPlan>& ranks) {
  for (const std::vector<Rank>& group : job.strategy.row->layout(job).groups)
    servers_.push_back(server_plan(group, ranks));
}

std::string ServersSection::text() const {
  const auto row = [&](const std::string& name, auto&& figure) {
    std::string line = fmt::format("  {:<26}", name);
    for (std::size_t i = 0; i < servers_.size(); ++i) line += fmt::format("{:>14}", figure(servers_[i], i));
    return line + "\n";
  };
  const auto number = [](const ServerPlan&, std::size_t i) { return fmt::format("server {}", i); };
  std::string computed;
  for (std::size_t l = 0; l < servers_.front().computed.size(); ++l)
    computed += row(fmt::format("computed by convolution {}", l + 1),
                    [&](const ServerPlan& s, std::size_t) { return count_text(s.computed[l]); });
  const std::size_t batches = servers_.front().batches.size();
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
         batches_text(servers_) + "\n";
}

void ServersSection::enter(nlohmann::ordered_json& plan) const {
  for (const ServerPlan& s : servers_) {
    nlohmann::ordered_json server{{"ranks", s.ranks},       {"own", s.own},
                                  {"copies", s.copies},     {"shareOfCopies", s.share_of_copies()},
                                  {"computed", s.computed}, {"arcs", s.arcs},
                                  {"heldBytes", s.bytes}};
    if (!s.batches.empty()) server["batchBytes"] = s.batches;
    plan["servers"].push_back(std::move(server));
  }
}

std::vector<std::string> ServersSection::lines(const JobPlan&, const Job&) const {
  std::vector<std::string> all;
  for (const ServerPlan& s : servers_) {
    const std::string at_most =
        s.batches.empty() ? "" : fmt::format(" in the largest of {} batches", s.batches.size());
    all.push_back(
        fmt::format("server {} holds {} vertices of its own and {} copies of others' ({}), {} arcs{}: {}",
                    all.size(), count_text(s.own), count_text(s.copies), percent_text(s.share_of_copies()),
                    count_text(s.arcs), at_most, bytes_text(double(s.bytes))));
  }
  return all;
}

/// Names the options by which servers hold fewer copies at a time.
std::string ServersSection::memory_advice() const {
  return "; or smaller strategy.granndis.hops, maxHop or fanout, or more batches";
}

}  // namespace atl
