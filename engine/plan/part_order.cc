// Decides which rank trains which part, so that the parts that exchange most bytes share a server. It reads
// only the exact cut between the parts. The answer is the same on one machine and on a cluster, and in every
// attempt of a job, wherever its pods run. Later the operator assigns servers to nodes, which leaves the
// ranks of each server together.
//
// Dividing parts among servers so that most bytes stay inside is graph partitioning again, of a graph of at
// most a few thousand vertices. There are two initial divisions. One is the partitioner's own order. The
// other fills one server after the other, each time with the part that talks most to those already inside. In
// each division, pairs of parts change places while that keeps more bytes inside. The better result wins; if
// they are equal, the partitioner's order does.
#include "plan/traffic.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "job/layout.h"
#include "job/strategies.h"
#include "partition/local_graph.h"
#include "strategies/schedule/strategy.h"

namespace atl {
namespace {

// A division of parts among servers, improved by Kernighan and Lin's gain: it exchanges one pair of parts at
// a time if that keeps more bytes inside servers.

/// Bytes between pairs of parts, both directions together. Bytes within a part aren't counted.
class PairedBytes {
 public:
  PairedBytes(int parts, std::span<const PairBytes> flows);

  struct Peer {
    int part;
    double bytes;
  };
  std::span<const Peer> of(int part) const {
    return rows_[std::size_t(part)];
  }  // the list may name a peer twice
  int parts() const { return int(rows_.size()); }
  double total() const { return total_; }

 private:
  std::vector<std::vector<Peer>> rows_;
  double total_ = 0;
};

class Division {
 public:
  /// `server_of`: (parts). `bytes` outlives it.
  Division(const PairedBytes& bytes, std::vector<int> server_of, int servers);

  /// Exchanges pairs of parts while that helps. Deterministic.
  void refine();

  double bytes_inside() const;
  const std::vector<int>& server_of() const { return server_of_; }

 private:
  std::size_t index(int part, int server) const {
    return std::size_t(part) * std::size_t(servers_) + std::size_t(server);
  }
  std::pair<int, double> best_exchange(int part) const;
  void exchange(int a, int b);
  void move(int part, int from, int to);

  const PairedBytes& bytes_;
  std::vector<int> server_of_;  // by part
  int servers_;
  std::vector<double> with_;  // (parts × servers) bytes between a part and a server's parts
};

constexpr double kWorthwhile = 1e-9;  // share of all bytes; a smaller gain is a rounding error
constexpr int kMostPasses = 30;       // a handful is usual; this stops endless rounding errors

PairedBytes::PairedBytes(int parts, std::span<const PairBytes> flows) : rows_(std::size_t(parts)) {
  for (const PairBytes& f : flows) {
    if (f.from == f.to) continue;
    rows_[std::size_t(f.from)].push_back({f.to, f.bytes});
    rows_[std::size_t(f.to)].push_back({f.from, f.bytes});
    total_ += f.bytes;
  }
}

Division::Division(const PairedBytes& bytes, std::vector<int> server_of, int servers)
    : bytes_(bytes),
      server_of_(std::move(server_of)),
      servers_(servers),
      with_(std::size_t(bytes.parts()) * std::size_t(servers)) {
  for (int part = 0; part < bytes.parts(); ++part)
    for (const auto& [peer, size] : bytes.of(part)) with_[index(part, server_of_[std::size_t(peer)])] += size;
}

void Division::refine() {
  const double least = kWorthwhile * bytes_.total();
  bool changed = true;
  for (int pass = 0; changed && pass < kMostPasses; ++pass) {
    changed = false;
    for (int part = 0; part < bytes_.parts(); ++part) {
      const auto [other, gain] = best_exchange(part);
      if (gain <= least) continue;
      exchange(part, other);
      changed = true;
    }
  }
}

double Division::bytes_inside() const {
  double twice = 0;
  for (int part = 0; part < bytes_.parts(); ++part)
    twice += with_[index(part, server_of_[std::size_t(part)])];
  return twice / 2;
}

/// The part with which `part` should change places, and the bytes that this would keep inside.
std::pair<int, double> Division::best_exchange(int part) const {
  std::vector<double> direct(std::size_t(bytes_.parts()), 0);
  for (const auto& [peer, size] : bytes_.of(part)) direct[std::size_t(peer)] += size;
  std::pair<int, double> best{-1, 0};
  const int here = server_of_[std::size_t(part)];
  for (int other = 0; other < bytes_.parts(); ++other) {
    const int there = server_of_[std::size_t(other)];
    if (there == here) continue;
    // The sums count the bytes between the two as if both moved together, but the two stay apart.
    const double gain = with_[index(part, there)] - with_[index(part, here)] + with_[index(other, here)] -
                        with_[index(other, there)] - 2 * direct[std::size_t(other)];
    if (gain > best.second) best = {other, gain};
  }
  return best;
}

void Division::exchange(int a, int b) {
  const int here = server_of_[std::size_t(a)], there = server_of_[std::size_t(b)];
  move(a, here, there);
  move(b, there, here);
}

void Division::move(int part, int from, int to) {
  server_of_[std::size_t(part)] = to;
  for (const auto& [peer, size] : bytes_.of(part)) {
    with_[index(peer, from)] -= size;
    with_[index(peer, to)] += size;
  }
}

/// Puts each part on the server of the rank with the same number.
std::vector<int> as_numbered(const Layout& layout, int parts) {
  std::vector<int> server_of(std::size_t(parts), -1);
  for (std::size_t server = 0; server < layout.groups.size(); ++server)
    for (const Rank rank : layout.groups[server]) server_of[std::size_t(rank)] = int(server);
  return server_of;
}

/// Fills one server after the other: first with the lowest part that is left, then again and again with the
/// part that talks most to the server's parts.
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
  if (strategy_of(job).holds == Holds::kPart && job.strategy.row->division(job).parts == 0)
    prepared_job.placement.ranks = prepared.parts();
  traffic.parts = part_order(job.strategy.row->layout(prepared_job), traffic.flows);
  const PartRanks ranks(traffic.parts);
  for (PairBytes& flow : traffic.flows) {
    flow.from = ranks.rank_of(flow.from);
    flow.to = ranks.rank_of(flow.to);
  }
  return traffic;
}

}  // namespace atl
