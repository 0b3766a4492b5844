#include "operator/run/stalled.h"

#include <nlohmann/json.hpp>
#include <set>

#include "operator/api/json_values.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr int kMostAsked = 8;  // servers

bool is_rank(const json& value, int ranks) {
  return value.is_number_integer() && value >= 0 && value < ranks;
}

}  // namespace

std::optional<ServerWaits> read_waits(const std::string& text, int ranks) {
  const json page = json::parse(text, nullptr, false);
  if (!member(page, "ranks").is_array()) return {};
  ServerWaits waits;
  for (const json& entry : list_of(page, "ranks")) {
    if (!is_rank(member(entry, "rank"), ranks)) continue;
    auto& peers = waits[member(entry, "rank").get<Rank>()];
    if (member(entry, "answers") != true) continue;
    peers.emplace();
    for (const json& peer : list_of(entry, "waitingFor"))
      if (is_rank(peer, ranks)) peers->push_back(peer.get<Rank>());
  }
  return waits;
}

std::optional<Rank> stalled_rank(Rank first, const AskServer& ask) {
  ServerWaits known;
  std::set<Rank> passed;
  std::vector<Rank> open{first};
  int asked = 0;
  while (!open.empty()) {
    const Rank rank = open.back();
    open.pop_back();
    if (!passed.insert(rank).second) continue;
    if (!known.contains(rank)) {
      if (asked++ == kMostAsked) return {};
      const auto said = ask(rank);
      if (!said) return rank;
      known.insert(said->begin(), said->end());
      if (!known.contains(rank)) continue;  // it speaks of others alone
    }
    const auto& peers = known[rank];
    if (!peers || peers->empty()) return rank;
    open.insert(open.end(), peers->rbegin(), peers->rend());
  }
  return {};
}

}  // namespace atl::ctl
