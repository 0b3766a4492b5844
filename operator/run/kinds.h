// The kinds of objects that the operator handles, as the API's paths name them, and the objects' names in
// caches.
#pragma once

#include <string>

#include "operator/controller/observed.h"
#include "operator/kube/cache.h"
#include "operator/kube/client.h"
#include "operator/kube/transport.h"

namespace atl::ctl {

const kube::Resource& resource_of(Kind kind);
const kube::Resource& nodes_resource();
const kube::Resource& claims_resource();   // PersistentVolumeClaims
const kube::Resource& volumes_resource();  // PersistentVolumes
const kube::Resource& storage_classes_resource();
const kube::Resource& flavors_resource();           // Kueue's descriptions of kinds of nodes
const kube::Resource& local_queues_resource();      // the queues that jobs name
const kube::Resource& cluster_queues_resource();    // the queues behind LocalQueues
const kube::Resource& queue_priorities_resource();  // Kueue's priority classes
const kube::Resource& pod_priorities_resource();    // Kubernetes' priority classes

/// "space/name", an object's name in caches and on the work queue.
inline std::string full_name(const std::string& space, const std::string& name) {
  return space + "/" + name;
}
/// The parts of such a name.
inline std::string space_of(const std::string& full) {
  return full.substr(0, full.find('/'));
}
inline std::string bare_name(const std::string& full) {
  return full.substr(full.find('/') + 1);
}

struct Feed {
  std::string path;
  kube::Selection only;
  kube::Store* store;
  bool may_be_absent = false;  // a cluster may lack this kind
};

}  // namespace atl::ctl
