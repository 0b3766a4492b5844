// What tells an object of the API from all others, read from its JSON without parsing the rest of it.
#pragma once

#include <string>
#include <string_view>

namespace atl::kube {

struct ObjectKey {
  std::string name;     // "namespace/name"; a cluster-wide object's name alone
  std::string uid;      // another one where the object was deleted and made anew
  std::string version;  // resourceVersion: opaque, compared for equality alone
};

/// Members that the object lacks are "".
ObjectKey object_key(std::string_view object);

}  // namespace atl::kube
