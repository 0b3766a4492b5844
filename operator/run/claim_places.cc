#include "operator/run/claim_places.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "operator/run/kinds.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

/// An object, or null where there is none.
struct Found {
  json object;
  std::string problem;  // the API server's, where it doesn't show it
};

Found find(kube::Client& client, const std::string& path) {
  const kube::Answer answer = client.get(path);
  if (answer) return {json::parse(answer.object, nullptr, false), ""};
  return {json(), answer.error->is_not_found() ? "" : answer.error->text()};
}

}  // namespace

ClaimPlace ClaimPlaces::of(const std::string& space, const std::string& claim) {
  const std::string name = full_name(space, claim);
  const Moment now = now_();
  {
    std::lock_guard lock(mutex_);
    std::erase_if(known_, [&](const auto& each) { return each.second.until <= now; });
    if (const auto found = known_.find(name); found != known_.end()) return found->second.place;
  }
  ClaimPlace place = ask(space, claim);
  std::lock_guard lock(mutex_);
  known_[name] = {place, now + kRemembered};
  return place;
}

ClaimPlace ClaimPlaces::ask(const std::string& space, const std::string& claim) {
  const auto unknown = [&](const std::string& why) {
    return ClaimPlace{{}, fmt::format("where volume claim {} can be used is not known: {}", claim, why)};
  };
  const Found claimed = find(client_, claims_resource().path(space, claim));
  if (!claimed.problem.empty()) return unknown(claimed.problem);
  const ClaimState state = claim_state(claimed.object);
  const bool is_bound = !state.volume.empty();
  if (!is_bound && state.storage_class.empty()) return {};
  const Found holder = find(client_, is_bound ? volumes_resource().path("", state.volume)
                                              : storage_classes_resource().path("", state.storage_class));
  if (!holder.problem.empty()) return unknown(holder.problem);
  return {is_bound ? nodes_of_volume(holder.object) : nodes_of_class(holder.object), ""};
}

}  // namespace atl::ctl
