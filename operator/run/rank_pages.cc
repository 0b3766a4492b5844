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

}  // namespace

RankPages::RankPages(const Caches& caches, const std::string& job, const Ask& ask, int port)
    : ask_(ask), port_(port) {
  for (const auto& pod : caches.pods_of(job)) {
    const bool is_there = pod->phase == "Running" && !pod->ip.empty() && !pod->is_terminating();
    if (!is_there || pod->meta.label(kRoleLabel) != kWorkerRole) continue;
    for (const Rank rank : ranks_of(*pod)) pods_[rank] = pod;
  }
}

const PodView* RankPages::pod_of(Rank rank) const {
  const auto found = pods_.find(rank);
  return found == pods_.end() ? nullptr : found->second.get();
}

std::optional<std::string> RankPages::page_of(Rank rank) {
  const PodView* pod = pod_of(rank);
  if (!pod) return {};
  const auto [found, is_new] = pages_.try_emplace(pod);
  if (is_new) found->second = ask_(fmt::format("http://{}:{}", pod->ip, port_));
  return found->second;
}

std::optional<Rank> RankPages::first_that_answers(int most) {
  const PodView* last = nullptr;
  for (const auto& [rank, pod] : pods_) {
    if (pod.get() == last) continue;
    if (most-- == 0) break;
    last = pod.get();
    if (page_of(rank)) return rank;
  }
  return {};
}

}  // namespace atl::ctl
