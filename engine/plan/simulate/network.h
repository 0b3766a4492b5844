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
  double remaining = 0;  // bytes that have yet to leave, with those before it that it can't pass
  bool awaited = false, left = false, arrived = false;
  double ready = 0;  // handed over, and its receiver's word has come: it leaves no earlier
  int holders = 2;   // sides that may still look at it
};

class VirtualNetwork {
 public:
  /// Outlive it. `notice`: how long after a message that comes now its receiver sees it.
  VirtualNetwork(const Topology& topology, std::function<double(Rank)> notice);

  /// A side of the next message of its pair and order, as they match: both sides get the same one. Told apart by `order` (of a slot of
  /// the small lane, of bulk, of prefetch). A rank hands its messages over one after the other.
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
  /// Rates of what is under way, where anything has changed.
  void share();
  /// When something next leaves or arrives, at the present rates; infinite: never.
  double next_event() const;
  /// On to `time`, not beyond next_event(). Ranks for which something has come or gone are told.
  void advance(double time, const std::function<void(Rank)>& changed);

  /// Bytes that have left so far: within servers, and between them.
  double bytes_inside() const { return bytes_inside_; }
  double bytes_between() const { return bytes_between_; }

 private:
  using Queue = std::deque<Transfer*>;
  /// All messages one way between two ranks, over a connection of its own.
  struct Connection {
    Rank from = 0, to = 0;
    bool between = false;  // servers
    double latency = 0;
    std::vector<Use> uses;
    std::array<Queue, kLanes> queues;         // what has yet to leave, in order
    std::array<Transfer*, kLanes> leaving{};  // of each lane, what leaves now; null: nothing
    std::array<double, kLanes> of_lane{};     // its part of …
    double rate = 0;                          // … bytes a second
    bool is_active = false;                   // in active_
    double leaves_at(std::size_t lane, double now) const {
      return now + leaving[lane]->remaining / (rate * of_lane[lane]);
    }
  };
  struct Matching {
    std::deque<Transfer*> sent, awaited;  // at most one of them holds anything
  };
  struct Event {
    enum class Kind { kMayLeave, kComes, kIsSeen };
    double time;
    std::int64_t number;  // of two at a time, the first
    Kind kind;
    Transfer* transfer;
    bool operator>(const Event& other) const {
      return time > other.time || (time == other.time && number > other.number);
    }
  };
  struct Ways {
    int out = 0, in = 0;  // resources
  };

  void add_links();
  int add_resource(double capacity);
  Connection& connection(Rank from, Rank to);
  std::vector<Use> uses_of(Rank from, Rank to) const;
  Transfer& match(Rank from, Rank to, Lane lane, int order, std::int64_t bytes, bool sends);
  void wait_in_line(const Connection& c, Transfer& t);
  bool needs_word(const Connection& c, const Transfer& t) const;
  Transfer* first_that_may_leave(const Connection& c, Lane lane) const;
  void choose_lanes();
  void leave(Connection& c, std::size_t lane, const std::function<void(Rank)>& changed);
  void add_event(double time, Event::Kind kind, Transfer* t) { events_.push({time, number_++, kind, t}); }
  void happen(const Event& event, const std::function<void(Rank)>& changed);

  const Topology& topology_;
  const std::vector<int> server_;  // by rank
  std::function<double(Rank)> notice_;
  std::vector<double> capacities_;  // while links are added
  std::vector<Ways> inside_, of_server_, of_rack_;
  std::vector<int> processors_;                  // resource, by rank
  std::map<std::pair<Rank, Rank>, int> bridge_;  // resource, by both ranks
  FairShares shares_;
  std::unordered_map<std::int64_t, Connection> connections_;
  std::vector<Connection*> active_, flowing_;
  std::map<std::tuple<Rank, Rank, int>, Matching> matching_;  // (from, to, order)
  std::deque<Transfer> transfers_;
  std::vector<Transfer*> free_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::int64_t number_ = 0;
  std::vector<char> sums_first_, holds_;          // by rank; its bulk stands while something small leaves
  std::vector<double> posts_until_, sees_until_;  // by rank: its progress thread is at other messages
  std::vector<double> taken_;                     // by rank
  bool is_stale_ = true;                          // something has changed since share()
  std::vector<std::span<const Use>> flows_;       // share()'s, for their memory
  std::vector<double> rates_;
  double now_ = 0, bytes_inside_ = 0, bytes_between_ = 0;
};

}  // namespace atl
