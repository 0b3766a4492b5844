// A topology's links in virtual time: messages between ranks leave in the transport's order, share links and
// processors fairly, and arrive. The network knows no rank's program; simulation.h drives it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "comm/transports.h"
#include "simulate/fair_shares.h"
#include "simulate/topology.h"

namespace atl {

// A topology's links and processors as resources that messages share: which resources a message takes from
// one rank to another, and how short messages pass.

/// The path of messages from one rank to another.
struct Path {
  Uses uses;
  bool between = false;  // the ranks are on different servers
  double latency = 0;
  double byte_seconds = 0;  // seconds of a processor at each end, per byte
};

class VirtualLinks {
 public:
  /// Both arguments outlive it.
  VirtualLinks(const Topology& topology, FairShares& shares);

  int server(Rank rank) const { return server_[std::size_t(rank)]; }
  bool between(Rank from, Rank to) const { return server(from) != server(to); }
  int processor(Rank rank) const { return processors_[std::size_t(rank)]; }
  /// The path between two ranks. It includes the processors of both ends where bytes cost them time.
  Path path(Rank from, Rank to) const;

  /// Sends a short message over a path, and returns the time at which it has gone. It gets no share of links.
  /// On each link it waits for the short messages before it, and until each long message there has sent as
  /// many bytes as the short one has. `mine`: how many long messages on the first link let it pass.
  double pass(const Path& path, double bytes, double now, std::size_t mine);
  /// Seconds that short messages have taken of a resource so far. Long messages stood still meanwhile.
  double taken_by_short(int resource) const { return lines_[std::size_t(resource)].taken; }

 private:
  struct Ways {
    int out = 0, in = 0;  // resources
  };
  struct Line {
    double until = 0;  // until when short messages wait for the resource
    double taken = 0;
  };

  void add_processors(Path& path, Rank from, Rank to) const;

  const Topology& topology_;
  FairShares& shares_;
  const std::vector<int> server_;  // by rank
  std::vector<Ways> inside_, of_server_, of_rack_;
  std::vector<int> processors_;                  // resource, by rank
  std::map<std::pair<Rank, Rank>, int> bridge_;  // resource, by both ranks
  std::vector<Line> lines_;                      // by resource
};

// Finds out which send and receive are one message. Between a pair of ranks they match in the order in which
// they were started, as in the transport (comm/transports.h).

/// Messages that a rank started together.
struct MessageGroup {
  int under_way = 0;  // messages whose completion the rank has yet to learn
};

/// One message. `left`: its sender is done with it. `arrived`: its receiver has seen it. `awaited`: its
/// receiver has asked for it.
struct Transfer {
  Rank from = 0, to = 0;
  Lane lane = Lane::kSmall;
  std::int64_t bytes = 0;
  double remaining = 0;  // bytes that have yet to leave, including queued bytes that it can't overtake
  bool awaited = false, left = false, arrived = false;
  double ready = 0;  // leaves no earlier: it is handed over, and its sender knows that its receiver is ready
  int holders = 2;   // sides that may still read it
  MessageGroup *sent_with = nullptr, *received_with = nullptr;  // null: that side hasn't come yet
  Transfer* next = nullptr;  // the next message that waits for its other side
};

class Matching {
 public:
  explicit Matching(int ranks) : ranks_(ranks) {}
  Matching(const Matching&) = delete;

  /// Adds a side of the next message of its pair and order; both sides get the same Transfer. `order`:
  /// kFirstOrder … kFirstOrder + 15.
  Transfer& match(Rank from, Rank to, Lane lane, int order, std::int64_t bytes, bool sends);
  /// A side calls this when it no longer reads the message.
  void release(Transfer& transfer);
  static constexpr int kFirstOrder = -kLanes;

 private:
  /// Messages of which only one side has come.
  struct Line {
    Transfer *first = nullptr, *last = nullptr;
    bool sent = false;  // the side that has come is the sender's
  };
  Transfer& fresh();

  std::int64_t ranks_;
  std::unordered_map<std::int64_t, Line> lines_;  // by pair and order, while any message waits
  std::deque<Transfer> transfers_;
  std::vector<Transfer*> free_;
};

class VirtualNetwork {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    /// How long a rank takes to see a message that arrives now.
    virtual double notice(Rank rank) = 0;
    /// Called when all messages that the rank started together have left or arrived.
    virtual void may_go_on(Rank rank) = 0;
    /// processors_taken() has changed.
    virtual void processors_change(Rank rank) = 0;
  };
  /// Both arguments outlive it.
  VirtualNetwork(const Topology& topology, Listener& listener);
  VirtualNetwork(const VirtualNetwork&) = delete;

  /// send() and receive() each add one side of the next message of a pair and order (Matching). A rank hands
  /// its messages over one after the other. `group` counts the message until it has left or arrived.
  Transfer& send(Rank from, Rank to, Lane lane, int order, std::int64_t bytes, MessageGroup& group);
  Transfer& receive(Rank from, Rank to, Lane lane, int order, std::int64_t bytes, MessageGroup& group);
  void release(Transfer& transfer) { matching_.release(transfer); }
  /// Processor time of a message on each side, besides processors_taken().
  double processor_seconds(Rank from, Rank to, std::int64_t bytes) const;

  /// Whether messages of the rank's small lane leave before its bulk.
  void sums_go_first(Rank rank, bool first);
  /// Sets the number of processors that the rank's messages may take: those that its computing leaves free.
  void set_processors(Rank rank, double processors) { shares_.set(links_.processor(rank), processors); }
  /// The number of processors that the rank's long messages take at the present rates.
  double processors_taken(Rank rank) const { return senders_[std::size_t(rank)].taken; }

  double now() const { return now_; }
  /// Computes the rates of messages under way, if anything has changed.
  void share();
  /// When the next message leaves or arrives, at the present rates; infinite: never.
  double next_event();
  /// Advances to `time`, which isn't after next_event().
  void advance(double time);

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// The long messages from one rank to another, over a connection of its own.
  struct Connection {
    Rank from = 0, to = 0;
    Path path;
    std::array<std::vector<Transfer*>, kLanes> queues;  // messages that have yet to leave, in order
    std::array<Transfer*, kLanes> leaving{};            // by lane, the message that leaves now; null: none
    int flow = -1;                                      // among shares_; −1: nothing leaves
    double rate = 0, parts = 0;  // bytes per second, and how many lanes share them equally
    int bottleneck = 0;          // the resource that limits its rate
    // when `remaining` was computed, and how long short messages had taken the bottleneck by then
    double since = 0, stood = 0;
    double due = kNever, asked = kNever;  // when the next message is through; its event, never after `due`
    bool is_stale = false;                // the messages that may leave have changed
    bool has_small = false;               // a message of the small lane may leave
    double leaves_at(const Transfer& t) const { return since + t.remaining * parts / rate; }
  };
  struct Event {
    enum class Kind { kHandsOver, kMayLeave, kLeaves, kComes, kSees, kShares };
    double time;
    std::int64_t number;  // the order of events at the same time
    Kind kind;
    Rank rank = -1;  // the rank that hands over or sees messages
    Transfer* transfer = nullptr;
    Connection* connection = nullptr;
    bool operator>(const Event& other) const {
      return time > other.time || (time == other.time && number > other.number);
    }
  };
  /// A rank's messages.
  struct Sender {
    std::vector<Connection*> connections;
    bool sums_first = true;
    int small_ones = 0;                      // connections with a small message that may leave
    std::size_t flows_between = 0;           // flows that leave to other servers
    int flows = 0;                           // flows from or to the rank
    double taken = 0;                        // processors that its long messages take
    double posts_until = 0, sees_until = 0;  // until when its progress thread is busy with other messages
    // Messages that wait for their turn, each with its time. Only the first has an event.
    std::deque<std::pair<double, Transfer*>> hands_over, sees;
    bool holds_bulk() const { return sums_first && small_ones > 0; }
  };

  Sender& sender(Rank rank) { return senders_[std::size_t(rank)]; }
  std::int64_t pair(Rank from, Rank to) const { return from * std::int64_t(senders_.size()) + to; }
  Connection& connection(Rank from, Rank to);
  bool goes_at_once(const Transfer& t) const;
  void pass(Transfer& t);
  void tell_left(Transfer& t);
  void wait_in_line(Connection& c, Transfer& t);
  bool needs_word(const Transfer& t) const;
  Transfer* first_that_may_leave(const Connection& c, Lane lane) const;
  void mark(Connection& c);
  void mark_all_of(Rank rank);
  void look_for_small_ones();
  void choose_lanes(Connection& c);
  void set_flow(Connection& c, bool flows);
  void set_rate(Connection& c, double rate);
  void settle(Connection& c);
  void schedule(Connection& c);
  void set_pause();
  void leave(Connection& c, std::size_t lane);
  void leave_all(Connection& c, const Event& event);
  void come(Transfer& t);
  void see_next(Rank rank);
  void hand_over_next(Rank rank);
  bool is_void(const Event& e) const;
  void add_event(Event event);
  void happen(const Event& event);

  const Topology& topology_;
  Listener& listener_;
  FairShares shares_;
  VirtualLinks links_;
  Matching matching_;
  std::vector<Sender> senders_;                               // by rank
  std::unordered_map<std::int64_t, Connection> connections_;  // by pair, where a long message was sent
  std::vector<Connection*> of_flow_;                          // by flow
  std::vector<Connection*> stale_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::int64_t number_ = 0;
  double next_share_ = 0;  // earliest time of the next share(), where many flows share
  bool share_is_due_ = false;
  std::vector<double> lengths_;  // set_pause()'s buffer
  double now_ = 0;
};

}  // namespace atl
