#include "launch/leaving.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace atl {
namespace {

constexpr std::chrono::seconds kWorthTelling{5};
// A rank says each half a second that it leaves; after this time without a word it counts as silent.
constexpr std::chrono::seconds kSilent{2};
constexpr int kFailedStatus = 1;

/// The ranks that haven't ended. Where some of them have fallen silent, only these: the others wait for them.
std::vector<int> who_stays(const std::map<int, RankState>& ranks, Leaving::Clock::time_point now) {
  std::vector<int> all, silent;
  for (const auto& [rank, state] : ranks) {
    if (state.ended) continue;
    all.push_back(rank);
    if (!state.left || now - *state.left > kSilent) silent.push_back(rank);
  }
  return silent.empty() ? all : silent;
}

}  // namespace

Leaving::News Leaving::look(const std::map<int, RankState>& ranks, Clock::time_point now) {
  if (patience_.count() == 0 || is_over_) return News::kNone;
  if (!since_ && std::ranges::any_of(ranks, [](const auto& each) { return each.second.left.has_value(); }))
    since_ = now;
  if (!since_) return News::kNone;
  is_over_ = now >= *since_ + patience_;
  if (!is_over_ && (now < *since_ + kWorthTelling || std::exchange(told_, true))) return News::kNone;
  note(ranks, now, is_over_ ? patience_ : kWorthTelling);
  return is_over_ ? News::kOver : News::kWorthTelling;
}

void Leaving::note(const std::map<int, RankState>& ranks, Clock::time_point now,
                   std::chrono::seconds waited) {
  std::string names;
  first_.reset();
  const std::vector<int> staying = who_stays(ranks, now);
  for (const int rank : staying) {
    const std::string& host = ranks.at(rank).host;
    if (!first_) first_ = LostRank{rank, host, 0, kFailedStatus};
    names += fmt::format("{}rank {} on {}", names.empty() ? "" : ", ", rank, host);
  }
  words_ = fmt::format("the run's files are written, but {} {} not ended within {} s",
                       names.empty() ? "mpirun" : names, staying.size() > 1 ? "have" : "has", waited.count());
}

}  // namespace atl
