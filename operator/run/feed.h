// One list and watch, and where what it brings is kept.
#pragma once

#include <string>

#include "operator/kube/client.h"
#include "operator/kube/store.h"

namespace atl::ctl {

struct Feed {
  std::string path;
  kube::Selection only;
  kube::Store* store;
  bool may_be_absent = false;  // a cluster without that kind has none of it
};

}  // namespace atl::ctl
