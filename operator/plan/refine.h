// Improves a given answer of the placement by moving and swapping single servers, while looks are left.
// Deterministic.
//
// A byte that goes into a domain which holds the receiver's site costs less than one that stays outside it:
// it saves the difference of two levels' weights. So what a server would pay on a site is a sum over the
// domains around the site (Assignment::bytes_into). The gain of a swap follows from two such sums. Finding
// one server's best change takes about as many looks as it has peers, plus the number of other servers, plus
// the number of domains in or beside those that hold servers.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/random.h"
#include "operator/plan/assignment.h"

namespace atl::ctl {

class Refiner {
 public:
  explicit Refiner(Assignment& assignment);

  /// Puts a server that has no site on the free slot where it pays least.
  void insert(int server);

  /// Marks the server, so that settle() looks at it.
  void look_at(int server);
  /// Moves servers to free slots and swaps pairs, as long as that lowers the cost. It looks at the marked
  /// servers, and at servers that a change concerns. Precondition: all servers have sites. Returns whether
  /// something changed.
  bool settle();
  /// The same for all servers, until no change of any server helps.
  void settle_all();

 private:
  struct Change {
    double gain = 0;  // change of the cost; negative: cheaper
    int site = -1;    // the site to move to, unless it is a swap
    int server = -1;  // the server to swap with, if it is a swap
  };

  Change best_change(int server);
  void apply(int server, const Change& change);
  void try_moves(int server, double now, double most);
  void end_moves();
  void try_sites(int domain, int level, double cost);
  void try_site(int site, double cost);
  void try_swaps();
  void cost_of_others_here();
  int first_site(int domain) const;
  /// What a byte that goes into a domain of this level adds to the cost.
  double toll(int level) const { return tolls_[std::size_t(level) + 1]; }

  Assignment& assignment_;
  const Topology& topology_;
  std::vector<double> tolls_;     // by level, starting with −1
  std::vector<int> first_for_0_;  // by domain: the first site that takes server 0, if any does
  std::deque<int> waiting_;
  std::vector<bool> is_waiting_;  // (servers)
  double least_ = 0;              // the smallest gain that is worth a change

  // The server whose best change is sought:
  int server_ = 0, here_is_ = 0;
  double now_ = 0;  // what it pays
  Change best_;
  std::size_t looked_ = 0;
  std::vector<double> bytes_to_, here_;  // (servers)
  std::vector<double> bytes_onto_;       // (sites)
  std::vector<double> around_;           // (domains above the nodes): its cost, counted down to them
};

// Answers of the placement before they are refined: first answers, and changes of many servers at once.
// Refining single servers doesn't find such changes, because each of their steps alone would cost more. All
// of it counts looks.

/// Random numbers. The same seed gives the same numbers in the same order.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}

  /// A number from 0 to `below` − 1.
  std::size_t below(std::size_t below) { return std::size_t((state_ = mix64(state_)) % below); }

 private:
  std::uint64_t state_;
};

/// Which child of a domain takes servers next.
enum class Fill {
  kTightest,  // the smallest that holds all remaining servers, or else the largest
  kLargest,
  kRandom,  // any; more slots make it more likely
};

/// Divides all servers top down among the children of a domain that has slots for them. Servers that talk
/// much stay together. Precondition: no server has a site yet. The first group grows around server `first`;
/// the others, or all with Fill::kRandom, grow around random servers.
void divide(Assignment& assignment, int domain, Fill fill, int first, Draws& draws);

/// By server, the site if servers 0, 1, … fill a domain's sites in plain order, as a careless hostfile would.
/// Precondition: one of the sites takes server 0.
std::vector<int> in_order(const Topology& topology, const Domain& domain, int servers);

/// Exchanges the servers of two domains of one level, as far as their slots allow. Returns the servers that
/// moved.
std::vector<int> exchange_domains(Assignment& assignment, Draws& draws);

/// Takes some servers off their sites, chosen by their traffic or at random, and puts each where it pays
/// least. Returns these servers.
std::vector<int> put_anew(Assignment& assignment, Refiner& refiner, Draws& draws);

}  // namespace atl::ctl
