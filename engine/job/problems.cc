#include "job/problems.h"

#include "job/field.h"

namespace atl {

std::string where_of(const Given& given, const std::string& path) {
  for (std::string at = path;; at = field_parent(at)) {
    if (const auto found = given.find(at); found != given.end()) return found->second;
    if (at.empty()) return "manifest";
  }
}

}  // namespace atl
