#include "operator/controller/observed.h"

namespace atl::ctl {

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
  }
  return "";
}

}  // namespace atl::ctl
