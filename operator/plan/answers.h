// Answers of the placement before they are refined: first ones, and changes of many servers at once, which
// the refinement of single servers doesn't find because each of its steps would cost more. They count looks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "operator/plan/refine.h"

namespace atl::ctl {

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
