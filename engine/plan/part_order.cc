#include "plan/part_order.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"
#include "job/strategies.h"
#include "partition/part_ranks.h"
#include "plan/division.h"
#include "plan/traffic.h"
#include "strategies/schedule/strategy.h"

namespace atl {
namespace {

constexpr double kWorthwhile = 1e-9;  // of all bytes: less is rounding

/// Each rank's own number.
std::vector<int> as_numbered(const Layout& layout, int parts) {
  std::vector<int> server_of(std::size_t(parts), -1);
  for (std::size_t server = 0; server < layout.groups.size(); ++server)
    for (const Rank rank : layout.groups[server]) server_of[std::size_t(rank)] = int(server);
  return server_of;
}

/// One server after the other takes the lowest part that is left, then whoever talks most to those inside.
std::vector<int> grown(const Layout& layout, const PairedBytes& bytes) {
  std::vector<int> server_of(std::size_t(bytes.parts()), -1);
  std::set<int> left;
  for (int part = 0; part < bytes.parts(); ++part) left.insert(part);
  for (std::size_t server = 0; server < layout.groups.size(); ++server) {
    std::vector<double> with(std::size_t(bytes.parts()), 0);
    for (std::size_t taken = 0; taken < layout.groups[server].size(); ++taken) {
      const int part = *std::ranges::max_element(left, {}, [&](int p) { return with[std::size_t(p)]; });
      left.erase(part);
      server_of[std::size_t(part)] = int(server);
      for (const auto& [peer, size] : bytes.of(part)) with[std::size_t(peer)] += size;
    }
  }
  return server_of;
}

/// Parts on the server of their own rank stay with it; the others take the ranks that are left, in order.
std::vector<int> by_rank(const Layout& layout, const std::vector<int>& server_of) {
  std::vector<int> parts(server_of.size(), -1);
  for (std::size_t server = 0; server < layout.groups.size(); ++server) {
    std::vector<int> guests;
    for (std::size_t part = 0; part < server_of.size(); ++part) {
      if (server_of[part] != int(server)) continue;
      if (std::ranges::count(layout.groups[server], Rank(part)) > 0)
        parts[part] = int(part);
      else
        guests.push_back(int(part));
    }
    auto next = guests.begin();
    for (const Rank rank : layout.groups[server])
      if (parts[std::size_t(rank)] < 0) parts[std::size_t(rank)] = *next++;
  }
  return parts;
}

bool is_free_to_choose(const Layout& layout) {
  const auto shares = [](const std::vector<Rank>& ranks) { return ranks.size() > 1; };
  return layout.ranks_are_alike && layout.groups.size() > 1 && std::ranges::any_of(layout.groups, shares);
}

}  // namespace

std::vector<int> part_order(const Layout& layout, std::span<const PairBytes> between_parts) {
  int ranks = 0;
  for (const auto& group : layout.groups) ranks += int(group.size());
  std::vector<int> own(std::size_t(ranks), 0);
  std::iota(own.begin(), own.end(), 0);
  if (!is_free_to_choose(layout)) return own;
  const PairedBytes bytes(ranks, between_parts);
  const int servers = int(layout.groups.size());
  Division plain(bytes, as_numbered(layout, ranks), servers), other(bytes, grown(layout, bytes), servers);
  plain.refine();
  other.refine();
  const bool better = other.bytes_inside() > plain.bytes_inside() + kWorthwhile * bytes.total();
  return by_rank(layout, (better ? other : plain).server_of());
}

RankTraffic rank_traffic(const Job& job, const Dataset& dataset, const PreparedGraph& prepared) {
  RankTraffic traffic{{}, part_flows(job, dataset, prepared)};
  Job prepared_job = job;
  const Strategy& strategy = strategy_of(job);
  if (strategy.holds == Holds::kPart && strategy.share == nullptr)
    prepared_job.placement.ranks = prepared.parts();
  traffic.parts = part_order(find_strategy(job.strategy.kind)->layout(prepared_job), traffic.flows);
  const PartRanks ranks(traffic.parts);
  for (PairBytes& flow : traffic.flows) {
    flow.from = ranks.rank_of(flow.from);
    flow.to = ranks.rank_of(flow.to);
  }
  return traffic;
}

}  // namespace atl
