#include "operator/run/rank_pages.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "operator/objects/names.h"

namespace atl::ctl {
namespace {

std::vector<Rank> ranks_of(const PodView& pod) {
  std::vector<Rank> ranks;
  std::istringstream words(pod.meta.annotation(kRanksAnnotation));
  for (std::string word; std::getline(words, word, ',');) {
    Rank rank = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), rank).ec == std::errc())
      ranks.push_back(rank);
  }
  return ranks;
}

std::string address_of(const PodView& pod, int port) {
  const bool is_ipv6 = pod.ip.find(':') != std::string::npos;
  return fmt::format("http://{}:{}", is_ipv6 ? "[" + pod.ip + "]" : pod.ip, port);
}

}  // namespace

RankPages::RankPages(const Caches& caches, const std::string& job, const Ask& ask, int port)
    : ask_(ask), port_(port) {
  for (const auto& pod : caches.pods_of(job)) {
    const bool is_there = pod->phase == "Running" && !pod->ip.empty() && !pod->is_terminating();
    if (!is_there || pod->meta.label(kRoleLabel) != kWorkerRole) continue;
    for (const Rank rank : ranks_of(*pod)) pods_[rank] = pod;
  }
}

std::optional<std::string> RankPages::page_of(Rank rank) {
  const auto holder = pods_.find(rank);
  if (holder == pods_.end()) return {};
  const PodView* pod = holder->second.get();
  const auto [found, is_new] = pages_.try_emplace(pod);
  if (is_new) found->second = ask_(address_of(*pod, port_));
  return found->second;
}

std::vector<Rank> RankPages::lowest_ranks(std::size_t most) const {
  std::vector<Rank> ranks;
  const PodView* last = nullptr;
  for (const auto& [rank, pod] : pods_) {
    if (ranks.size() == most) break;
    if (pod.get() != last) ranks.push_back(rank);
    last = pod.get();
  }
  return ranks;
}

}  // namespace atl::ctl
