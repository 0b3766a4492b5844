// What Kueue's queues use, in the whole cluster: ResourceFlavors (kinds of nodes) and priority classes.
#include "operator/run/caches.h"

#include "base/json.h"
#include "operator/api/json_values.h"
#include "operator/objects/names.h"
#include "operator/plan/json_members.h"
#include "operator/run/kinds.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

/// A change of these objects wakes no job: jobs that wait for one look again by themselves.
constexpr auto kNobodyIsTold = [](const auto&...) {};

}  // namespace

QueueCaches::Flavor QueueCaches::read_flavor(std::string_view text) {
  const json object = json_or_discarded(text);
  return {read_meta(object).name, flavor_template(object), has_topology(object)};
}

QueueCaches::PriorityClass QueueCaches::read_class(std::string_view text) {
  const json object = json_or_discarded(text);
  return {read_meta(object).name, int(integer_of(object, "value").value_or(0)),
          member(object, "globalDefault") == true};
}

QueueCaches::QueueCaches()
    : flavors_(read_flavor, kNobodyIsTold),
      queue_classes_(read_class, kNobodyIsTold),
      pod_classes_(read_class, kNobodyIsTold) {}

void QueueCaches::add_feeds(std::vector<Feed>& feeds) {
  feeds.push_back({flavors_resource().path(), {}, &flavors_, true});
  feeds.push_back({queue_priorities_resource().path(), {}, &queue_classes_, true});
  feeds.push_back({pod_priorities_resource().path(), {}, &pod_classes_});
}

std::optional<std::string> QueueCaches::flavor(const std::string& name) const {
  const auto found = flavors_.find(name);
  return found ? std::optional(found->pods) : std::nullopt;
}

std::set<std::string> QueueCaches::topology_flavors() const {
  std::set<std::string> names;
  for (const auto& flavor : flavors_.all())
    if (flavor->has_topology) names.insert(flavor->name);
  return names;
}

std::optional<QueuePriority> QueueCaches::priority_of(const GnnJob& job) const {
  if (const std::string name = job.meta.label(kQueuePriorityLabel); !name.empty()) {
    const auto found = queue_classes_.find(name);
    if (!found) return {};
    return QueuePriority{"kueue.x-k8s.io", "WorkloadPriorityClass", name, found->value};
  }
  for (const auto& each : pod_classes_.all())
    if (job.priority_class.empty() ? each->is_default : each->name == job.priority_class)
      return QueuePriority{"scheduling.k8s.io", "PriorityClass", each->name, each->value};
  if (!job.priority_class.empty()) return {};
  return QueuePriority{};
}

}  // namespace atl::ctl
