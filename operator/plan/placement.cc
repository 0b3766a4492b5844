#include "operator/plan/placement.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "operator/plan/less_search.h"
#include "operator/plan/refine.h"

namespace atl::ctl {
namespace {

constexpr double kRounding = 1e-9;
constexpr double kForStarts = 0.5;  // the share of the looks that starts may use; two are made anyway
constexpr int kMostStarts = 40;
constexpr int kPatience = 30;  // rounds without a better answer until the next start

/// The limit of looks for a search. A round takes looks in proportion to the servers, and larger jobs need
/// more rounds. If all servers talk to all, refining a first answer takes a few times servers² looks.
std::int64_t affordable_looks(std::int64_t servers) {
  constexpr std::int64_t kLeast = 300'000, kPerServer = 35'000, kPerPair = 30, kMost = 200'000'000;
  return std::min(kMost, kLeast + kPerServer * servers + kPerPair * servers * servers);
}

std::vector<std::string> nodes_of(const Topology& topology, const std::vector<int>& site_of) {
  std::vector<std::string> nodes;
  for (const int site : site_of) nodes.emplace_back(topology.sites()[std::size_t(site)].node);
  return nodes;
}

double cost_of_sites(const Topology& topology, const Traffic& traffic, const std::vector<int>& site_of) {
  double cost = 0;
  for (int a = 0; a < traffic.servers(); ++a)
    for (const auto& [b, bytes] : traffic.peers(a))
      if (a < b) cost += bytes * topology.distance(site_of[std::size_t(a)], site_of[std::size_t(b)]);
  return cost;
}

/// The domains that hold `servers` servers, tight ones first.
std::vector<int> domains_that_hold(const Topology& topology, int servers) {
  std::vector<int> found;
  for (std::size_t d = 0; d < topology.domains().size(); ++d)
    if (topology.domains()[d].slots >= servers) found.push_back(int(d));
  std::ranges::stable_sort(found, {}, [&](int d) { return topology.domains()[std::size_t(d)].room; });
  return found;
}

/// Steps 2 to 4 of the search, on sites that are all allowed.
class Search {
 public:
  Search(const Topology& topology, const Traffic& traffic, const Floor& floor, Looks& looks)
      : topology_(topology),
        floor_(floor),
        looks_(looks),
        enough_(floor.of(topology, 0) * (1 + kRounding)),
        assignment_(topology, traffic, looks),
        refiner_(assignment_),
        draws_(1) {
    const Twins twins(topology, traffic.servers());
    looks.count(topology.domains().size());
    std::set<int> shapes;
    for (const int d : domains_that_hold(topology, traffic.servers()))  // an only child is its parent's twin
      if (topology.domains()[std::size_t(d)].children.size() != 1 && shapes.insert(twins.shape_of(d)).second)
        holders_.push_back(d);
  }

  /// Returns each server's site.
  std::vector<int> run() {
    first_answers();
    consider_plain_order();
    if (!is_enough()) disturb();
    return best_sites_;
  }

 private:
  bool is_enough() const { return !best_sites_.empty() && best_ <= enough_; }

  void consider_plain_order() {
    auto site_of = in_order(topology_, topology_.domains()[0], assignment_.servers());
    const double cost = cost_of_sites(topology_, assignment_.traffic(), site_of);
    if (cost >= best_ * (1 - kRounding)) return;
    best_ = cost;
    best_sites_ = std::move(site_of);
  }

  void consider() {
    const double cost = assignment_.cost();
    if (!best_sites_.empty() && cost >= best_ * (1 - kRounding)) return;
    best_ = cost;
    best_sites_ = assignment_.site_of();
  }

  void start(int domain, Fill fill, int first) {
    assignment_.restore(std::vector<int>(std::size_t(assignment_.servers()), Assignment::kNowhere));
    divide(assignment_, domain, fill, first, draws_);
    for (int server = 0; server < assignment_.servers(); ++server) refiner_.look_at(server);
    refiner_.settle();
    consider();
  }

  void first_answers() {
    const auto kept = std::int64_t(double(looks_.left()) * (1 - kForStarts));
    for (int starts = 0; starts < kMostStarts;) {
      const int before = starts;
      for (const int domain : holders_) {
        if (starts > 0 && floor_.of(topology_, domain) >= best_) continue;
        for (const Fill fill : {Fill::kTightest, Fill::kLargest}) {
          if (is_enough() || (starts >= 2 && looks_.left() < kept)) return;
          start(domain, fill, starts++ % assignment_.servers());
        }
      }
      if (starts == before) return;
    }
  }

  /// Disturbs and refines the present answer, and goes back to it if that doesn't help. Now and then it
  /// begins anew.
  void disturb() {
    assignment_.restore(best_sites_);
    refiner_.settle_all();
    consider();
    const int patience = std::max(kPatience, assignment_.servers() / 2);
    double now = assignment_.cost();
    std::vector<int> sites = assignment_.site_of();
    for (int round = 0, in_vain = 0; !is_enough() && looks_.left() > 0; ++round) {
      if (in_vain++ == patience) {
        // Most new starts use the widest domain, because the best answer may lie in none of the others.
        const bool in_any = draws_.below(4) == 0;
        start(in_any ? holders_[draws_.below(holders_.size())] : holders_.back(), Fill::kRandom, 0);
        in_vain = 0;
      } else {
        const auto moved =
            round % 2 == 0 ? exchange_domains(assignment_, draws_) : put_anew(assignment_, refiner_, draws_);
        for (const int server : moved) refiner_.look_at(server);
        refiner_.settle();
        if (assignment_.cost() >= now * (1 - kRounding)) {
          assignment_.restore(sites);
          continue;
        }
        refiner_.settle_all();
        if (assignment_.cost() < best_ * (1 - kRounding)) in_vain = 0;
        consider();
      }
      now = assignment_.cost();
      sites = assignment_.site_of();
    }
  }

  const Topology& topology_;
  const Floor& floor_;
  Looks& looks_;
  double enough_;  // the cost at which the search ends
  Assignment assignment_;
  Refiner refiner_;
  Draws draws_;
  std::vector<int> holders_;  // domains with slots for all servers, without twins
  double best_ = 0;
  std::vector<int> best_sites_;
};

bool takes_first(const Topology& topology, const Domain& domain) {
  const auto sites = topology.sites().begin();
  return std::any_of(sites + domain.first, sites + domain.last, [](const Site& s) { return s.takes_first; });
}

/// The domains of a level that can hold the job, tight ones first, without twins.
std::vector<int> holders(const Topology& topology, int servers, int level, const Twins& twins) {
  std::vector<int> found = domains_that_hold(topology, servers);
  std::set<int> shapes;
  std::erase_if(found, [&](int d) {
    const Domain& domain = topology.domains()[std::size_t(d)];
    return domain.level != level || !takes_first(topology, domain) ||
           !shapes.insert(twins.shape_of(d)).second;
  });
  return found;
}

}  // namespace

std::optional<Placement> place(const Topology& topology, const Traffic& traffic, int within, double effort) {
  ATOLL_CHECK(within >= -1 && within < topology.levels(), "level {} of {}", within, topology.levels());
  if (topology.sites().empty()) return {};
  const Twins twins(topology, traffic.servers());
  const std::vector<int> all = holders(topology, traffic.servers(), within, twins);
  const Floor floor(traffic);
  const auto affordable = std::int64_t(effort * double(affordable_looks(traffic.servers())));
  std::int64_t made = 0;
  std::optional<Placement> best;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Topology inside = twins.without_twins(all[i]);
    if (best && floor.of(inside, 0) * (1 + kRounding) >= best->cost) continue;
    const std::int64_t share = (affordable - made) / std::int64_t(all.size() - i);
    Looks looks(share);
    const auto site_of = Search(inside, traffic, floor, looks).run();
    made += share - looks.left();
    const double cost = cost_of_sites(inside, traffic, site_of);
    if (best && cost >= best->cost * (1 - kRounding)) continue;
    const auto plain = in_order(topology, topology.domains()[std::size_t(all[i])], traffic.servers());
    best = Placement{nodes_of(inside, site_of), cost, cost_of_sites(topology, traffic, plain), 0};
  }
  if (best) best->looks = made;
  return best;
}

double cost_of(const Topology& topology, const Traffic& traffic, const std::vector<std::string>& nodes) {
  std::unordered_map<std::string_view, int> sites;
  for (std::size_t s = 0; s < topology.sites().size(); ++s) sites[topology.sites()[s].node] = int(s);
  std::vector<int> site_of;
  for (const std::string& node : nodes) site_of.push_back(sites.at(node));
  return cost_of_sites(topology, traffic, site_of);
}

}  // namespace atl::ctl
