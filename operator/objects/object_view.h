// The objects that jobs have in the API, other than pods, as far as decisions about a job need them.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "operator/api/messages.h"
#include "operator/api/workload.h"

namespace atl::ctl {

enum class Kind {
  kJob,
  kPod,
  kConfigMap,
  kSecret,
  kNetworkPolicy,
  kMpiJob,
  kWorkload,
  kPodTemplate,
  kCapacityBuffer
};
/// The kind's name: "Pod".
const char* name_of(Kind kind);

/// An object other than a pod.
struct ObjectView {
  Kind kind = Kind::kConfigMap;
  Meta meta;
  std::shared_ptr<const Prepared> prepared{};  // of a ConfigMap: its prepared.json, if any
  std::string failure{};                       // of an MPIJob: why it failed, if it did
  std::optional<Workload> workload{};
};

/// `object`: the API's JSON. Keeps nothing of Secrets and ConfigMaps that a decision doesn't need, least of
/// all keys; and of labels and annotations those that decisions read.
ObjectView read_object(Kind kind, const nlohmann::json& object);

}  // namespace atl::ctl
