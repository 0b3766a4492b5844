// A topology's links in virtual time: messages between ranks leave in the transport's order, share links and processors fairly, and
// arrive. Knows no rank's program; replay.h drives it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "comm/transport.h"
#include "plan/simulate/fair_shares.h"
#include "plan/simulate/topology.h"

namespace atl {

/// One message. `left`: its sender is done with it; `arrived`: its receiver, once that has asked for it.
struct Transfer {
  Rank from = 0, to = 0;
  Lane lane = Lane::kSmall;
  std::int64_t bytes = 0;
  double remaining = 0;  // bytes that have yet to leave
  bool sent = false, awaited = false, left = false, arrived = false;
  double may_leave = 0;  // not before its receiver's word has come
  int holders = 2;       // sides that may still look at it
};

class VirtualNetwork {
 public:
  /// Outlive it. `notice`: how long after a message has come its receiver sees it.
  VirtualNetwork(const Topology& topology, std::function<double(Rank)> notice);

  /// A side of the next message of its pair and order, as they match: both sides get the same one. Told apart by `order` (of a slot of
  /// the small lane, of bulk, of prefetch).
  Transfer& send(Rank from, Rank to, Lane lane, int order, std::int64_t bytes);
  Transfer& receive(Rank from, Rank to, Lane lane, int order, std::int64_t bytes);

  /// A side that got it looks at it no more.
  void release(Transfer& transfer);

  /// Whether what the rank's small lane has to send leaves before its bulk.
  void sums_go_first(Rank rank, bool first);
  /// Processors that the rank's messages may take: what its computing leaves them.
  void set_processors(Rank rank, double processors);
  /// Processors that they take at the present rates.
  double processors_taken(Rank rank) const { return taken_[std::size_t(rank)]; }

  double now() const { return now_; }
  /// Rates of what is under way; after anything has changed.
  void share();
  /// When something next leaves or arrives, at the present rates; infinite: never.
  double next_event() const;
  /// On to `time`, not beyond next_event(). Ranks for which something has come or gone are told.
  void advance(double time, const std::function<void(Rank)>& changed);

  /// Bytes that have left so far: within servers, and between them.
  double bytes_inside() const { return bytes_inside_; }
  double bytes_between() const { return bytes_between_; }

 private:
  /// All messages one way between two ranks, over a connection of its own.
  struct Connection {
    Rank from = 0, to = 0;
    bool between = false;  // servers
    double latency = 0;
    std::int64_t eager = 0;  // bytes that leave without the receiver's word
    std::vector<Use> uses;
    std::array<std::deque<Transfer*>, kLanes> queues;      // what has yet to leave, in order
    double rate = 0;                                       // bytes a second, of all that leave
    std::array<double, kLanes> of_lane{};                  // of it
    bool is_active = false;                                // in active_
    double leaves_at(std::size_t lane, double now) const;  // its first message, at the present rate
  };
  struct Matching {
    std::deque<Transfer*> sent, awaited;  // at most one of them holds anything
  };
  struct Arrival {
    double time;
    std::int64_t number;  // of two at a time, the first
    Transfer* transfer;   // null: one may leave
    bool operator>(const Arrival& other) const {
      return time > other.time || (time == other.time && number > other.number);
    }
  };

  void add_links();
  int add_resource(double capacity);
  Connection& connection(Rank from, Rank to);
  std::vector<Use> uses_of(Rank from, Rank to) const;
  Transfer& match(Rank from, Rank to, Lane lane, int order, std::int64_t bytes, bool sends);
  bool may_leave(const Connection& c, const Transfer& t) const;
  void choose_lanes(Connection& c) const;
  void leave(Connection& c, Lane lane, const std::function<void(Rank)>& changed);

  const Topology& topology_;
  const std::vector<int> server_;  // by rank
  std::function<double(Rank)> notice_;
  std::vector<double> capacities_;  // while links are added
  // Resources, one each way:
  struct Ways {
    int out = 0, in = 0;
  };
  std::vector<Ways> inside_, of_server_, of_rack_;
  std::vector<int> processors_;                  // by rank
  std::map<std::pair<Rank, Rank>, int> bridge_;  // by both ranks
  FairShares shares_;
  std::unordered_map<std::int64_t, Connection> connections_;
  std::vector<Connection*> active_;
  std::map<std::tuple<Rank, Rank, int>, Matching> matching_;  // (from, to, order)
  std::deque<Transfer> transfers_;
  std::vector<Transfer*> free_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::int64_t number_ = 0;
  std::vector<char> sums_first_;     // by rank
  std::vector<std::int64_t> small_;  // by rank: messages of the small lane that have yet to leave
  std::vector<double> taken_;
  std::vector<std::span<const Use>> flows_;  // share()'s, for their memory
  std::vector<Connection*> flowing_;
  std::vector<double> rates_;
  double now_ = 0, bytes_inside_ = 0, bytes_between_ = 0;
};

}  // namespace atl
