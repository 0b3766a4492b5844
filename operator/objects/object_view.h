// The jobs' objects in the API other than pods. Only what decisions need is kept of them.
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
  std::shared_ptr<const Prepared> prepared{};  // a ConfigMap's prepared.json, if any
  std::string failure{};                       // why an MPIJob failed, if it did
  std::optional<Workload> workload{};
};

/// Reads an object from the API's JSON in `object`. It keeps nothing of Secrets and ConfigMaps that a
/// decision doesn't need, least of all keys, and only those labels and annotations that decisions read.
ObjectView read_object(Kind kind, const nlohmann::json& object);

}  // namespace atl::ctl
