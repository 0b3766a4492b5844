// Improves a given answer of the placement by changes of single servers, while looks are left. Deterministic.
//
// A byte into a domain that holds the receiver's site saves what its level costs more than the next finer
// one. So what a server would pay on a site is a sum over the site's domains (Assignment::bytes_into), and
// the gain of a swap follows from two such sums. One server's best change takes about as many looks as it has
// peers, as there are other servers, and as there are domains beside those that hold servers.
#pragma once

#include <deque>
#include <vector>

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

  // Of the server whose best change is sought:
  int server_ = 0, here_is_ = 0;
  double now_ = 0;  // what it pays
  Change best_;
  std::size_t looked_ = 0;
  std::vector<double> bytes_to_, here_;  // (servers)
  std::vector<double> bytes_onto_;       // (sites)
  std::vector<double> around_;           // (domains above the nodes): what it pays for bytes down to there
};

}  // namespace atl::ctl
