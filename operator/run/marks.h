// What the operator waits to see in its caches after it has asked for it: names of expectations.
#pragma once

#include <string>

#include "operator/run/kinds.h"

namespace atl::ctl {

inline std::string made_mark(Kind kind, const std::string& name) {
  return std::string("made ") + name_of(kind) + " " + name;
}
inline std::string gone_mark(const std::string& uid) {
  return "gone " + uid;
}
/// Of a pod that is patched, or of a job whose status is written: any later state of it.
inline std::string changed_mark(Kind kind, const std::string& name) {
  return std::string("changed ") + name_of(kind) + " " + name;
}

}  // namespace atl::ctl
