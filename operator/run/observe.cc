#include "operator/run/observe.h"

#include <algorithm>
#include <iterator>

#include "operator/objects/names.h"
#include "operator/run/kinds.h"

namespace atl::ctl {
namespace {

std::map<std::string, NodeView> node_views(const Caches& caches) {
  std::map<std::string, NodeView> views;
  for (const auto& node : caches.nodes())
    views[node->state.name] = {node->state.ready, node->since, node->state.labels};
  return views;
}

/// Other people's pods first, then those of other jobs.
std::vector<std::string> strangers(const Caches& caches, const std::string& job, const std::string& node) {
  std::vector<std::string> names = caches.others().on(node);
  for (const auto& pod : caches.pods()) {
    const bool is_there = pod->node == node && !pod->has_ended();
    if (is_there && full_name(pod->meta.space, pod->meta.label(kJobLabel)) != job)
      names.push_back(full_name(pod->meta.space, pod->meta.name));
  }
  return names;
}

}  // namespace

std::optional<Observed> observe(const std::string& job, const Caches& caches, Planner::Turn& turn,
                                Circumstances circumstances) {
  const auto found = caches.job(job);
  if (!found) return {};
  Observed seen;
  seen.job = *found;
  for (const auto& pod : caches.pods_of(job)) seen.pods.push_back(*pod);
  for (const auto& object : caches.objects_of(job)) seen.objects.push_back(*object);
  std::ranges::move(circumstances.aftermath.pods, std::back_inserter(seen.pods));
  std::ranges::move(circumstances.aftermath.objects, std::back_inserter(seen.objects));
  seen.refusals = std::move(circumstances.aftermath.refusals);
  seen.nodes = node_views(caches);
  seen.plan = [&turn](const Gang& gang) { return turn.plan(gang); };
  seen.strangers = [&caches, job](const std::string& node) { return strangers(caches, job, node); };
  seen.new_keys = make_login_keys;
  seen.heard = std::move(circumstances.heard);
  seen.now = circumstances.now;
  return seen;
}

}  // namespace atl::ctl
