#include "operator/run/kinds.h"

#include "base/error.h"
#include "job/api_names.h"

namespace atl::ctl {

const kube::Resource& resource_of(Kind kind) {
  static const kube::Resource kJobs{kApiGroup, kApiVersion, kApiPlural}, kPods{"", "v1", "pods"},
      kConfigMaps{"", "v1", "configmaps"}, kSecrets{"", "v1", "secrets"},
      kPolicies{"networking.k8s.io", "v1", "networkpolicies"}, kMpiJobs{"kubeflow.org", "v2beta1", "mpijobs"},
      kWorkloads{"kueue.x-k8s.io", "v1beta2", "workloads"}, kPodTemplates{"", "v1", "podtemplates"},
      kCapacityBuffers{"autoscaling.x-k8s.io", "v1beta1", "capacitybuffers"};
  switch (kind) {
    case Kind::kJob:
      return kJobs;
    case Kind::kPod:
      return kPods;
    case Kind::kConfigMap:
      return kConfigMaps;
    case Kind::kSecret:
      return kSecrets;
    case Kind::kNetworkPolicy:
      return kPolicies;
    case Kind::kMpiJob:
      return kMpiJobs;
    case Kind::kWorkload:
      return kWorkloads;
    case Kind::kPodTemplate:
      return kPodTemplates;
    case Kind::kCapacityBuffer:
      return kCapacityBuffers;
  }
  ATOLL_CHECK(false, "no kind {}", int(kind));
  return kJobs;
}

const kube::Resource& flavors_resource() {
  static const kube::Resource kFlavors{"kueue.x-k8s.io", "v1beta2", "resourceflavors"};
  return kFlavors;
}

const kube::Resource& local_queues_resource() {
  static const kube::Resource kQueues{"kueue.x-k8s.io", "v1beta2", "localqueues"};
  return kQueues;
}

const kube::Resource& cluster_queues_resource() {
  static const kube::Resource kQueues{"kueue.x-k8s.io", "v1beta2", "clusterqueues"};
  return kQueues;
}

const kube::Resource& queue_priorities_resource() {
  static const kube::Resource kClasses{"kueue.x-k8s.io", "v1beta2", "workloadpriorityclasses"};
  return kClasses;
}

const kube::Resource& pod_priorities_resource() {
  static const kube::Resource kClasses{"scheduling.k8s.io", "v1", "priorityclasses"};
  return kClasses;
}

const kube::Resource& claims_resource() {
  static const kube::Resource kClaims{"", "v1", "persistentvolumeclaims"};
  return kClaims;
}

const kube::Resource& volumes_resource() {
  static const kube::Resource kVolumes{"", "v1", "persistentvolumes"};
  return kVolumes;
}

const kube::Resource& storage_classes_resource() {
  static const kube::Resource kClasses{"storage.k8s.io", "v1", "storageclasses"};
  return kClasses;
}

const kube::Resource& nodes_resource() {
  static const kube::Resource kNodes{"", "v1", "nodes"};
  return kNodes;
}

}  // namespace atl::ctl
