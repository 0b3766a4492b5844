// Improves a given answer of the placement by changes of single servers, while looks are left. Deterministic.
//
// A byte into a domain that holds the receiver's site saves what its level costs more than the next finer
// one. So what a server would pay on a site is a sum over the site's domains (Assignment::bytes_into), and
// the gain of a swap follows from two such sums. One server's best change takes about as many looks as it has
// peers, as there are other servers, and as there are domains beside those that hold servers.
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

  /// The server will be looked at by settle().
  void look_at(int server);
  /// Moves servers to free slots and swaps pairs, as long as that lowers the cost: looks at the servers that
  /// wait, and at those that a change concerns. All servers have sites. Returns whether something changed.
  bool settle();
  /// The same, until no change of any server helps.
  void settle_all();

 private:
  struct Change {
    double gain = 0;  // negative: cheaper
    int site = -1;    // to move to, or
    int server = -1;  // to swap with
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
  /// What a byte into a domain of a level adds to the cost.
  double toll(int level) const { return tolls_[std::size_t(level) + 1]; }

  Assignment& assignment_;
  const Topology& topology_;
  std::vector<double> tolls_;     // by level, from −1
  std::vector<int> first_for_0_;  // by domain: the first site that takes server 0, if any does
  std::deque<int> waiting_;
  std::vector<bool> is_waiting_;  // (servers)
  double least_ = 0;              // gain that is worth a change

  // The server whose best change is sought:
  int server_ = 0, here_is_ = 0;
  double now_ = 0;  // what it pays
  Change best_;
  std::size_t looked_ = 0;
  std::vector<double> bytes_to_, here_;  // (servers)
  std::vector<double> bytes_onto_;       // (sites)
  std::vector<double> around_;           // (domains above the nodes): what it pays for bytes down to there
};

// Answers of the placement before they are refined: first ones, and changes of many servers at once, which
// the refinement of single servers doesn't find because each of its steps would cost more. They count looks.

/// The same numbers in the same order for the same seed.
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
  kTightest,  // the smallest that holds all remaining servers, else the largest
  kLargest,
  kRandom,  // any, the likelier the more slots it has
};

/// Divides all servers, none of which has a site yet, top down among the children of a domain that has slots
/// for them; those that talk much stay together. The first group grows around `first`, or all around random
/// ones.
void divide(Assignment& assignment, int domain, Fill fill, int first, Draws& draws);

/// Servers 0, 1, … on a domain's sites in their order, as in a careless hostfile; by server, the site. Needs
/// a site that takes server 0.
std::vector<int> in_order(const Topology& topology, const Domain& domain, int servers);

/// Exchanges the servers of two domains of one level, as far as their slots allow. Returns those that moved.
std::vector<int> exchange_domains(Assignment& assignment, Draws& draws);

/// Takes some servers away, by their traffic or at random, and puts each where it then pays least. Returns
/// them.
std::vector<int> put_anew(Assignment& assignment, Refiner& refiner, Draws& draws);

}  // namespace atl::ctl
