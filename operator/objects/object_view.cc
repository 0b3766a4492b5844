#include "operator/objects/object_view.h"

#include "base/json.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

constexpr std::size_t kLongestMoment = 64;

/// Keeps only the labels and annotations that are read. Anybody may give an object our labels and a megabyte
/// of others, and all objects with our labels are kept in memory.
void keep_own_words(Meta& meta) {
  std::erase_if(meta.labels, [](const auto& label) {
    return label.first != kJobLabel && label.first != kManagedByLabel && label.first != kManifestLabel;
  });
  std::erase_if(meta.annotations, [](const auto& annotation) {
    return annotation.first != kMadeAnnotation || annotation.second.size() > kLongestMoment;
  });
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kJob:
      return "GNNJob";
    case Kind::kPod:
      return "Pod";
    case Kind::kConfigMap:
      return "ConfigMap";
    case Kind::kSecret:
      return "Secret";
    case Kind::kNetworkPolicy:
      return "NetworkPolicy";
    case Kind::kMpiJob:
      return "MPIJob";
    case Kind::kWorkload:
      return "Workload";
    case Kind::kPodTemplate:
      return "PodTemplate";
    case Kind::kCapacityBuffer:
      return "CapacityBuffer";
  }
  return "";
}

ObjectView read_object(Kind kind, const nlohmann::json& object) {
  ObjectView view{kind, read_meta(object)};
  keep_own_words(view.meta);
  if (kind == Kind::kConfigMap)
    if (auto prepared = read_prepared(text_of(member(object, "data"), "prepared.json")))
      view.prepared = std::make_shared<const Prepared>(std::move(*prepared));
  if (kind == Kind::kMpiJob) view.failure = mpi_job_failure(object);
  if (kind == Kind::kWorkload) view.workload = read_workload(object);
  return view;
}

}  // namespace atl::ctl
