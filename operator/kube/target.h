// What stands after the method in a request to the API: the path of a resource or an object, and a query.
#pragma once

#include <string>
#include <string_view>

namespace atl::kube {

/// A kind of objects as the API's paths name it: {"apps", "v1", "deployments"}, {"", "v1", "pods"}.
struct Resource {
  std::string group, version, plural;

  /// Of all of them, of those in a namespace, or of one; cluster-wide kinds have no namespace.
  std::string path(std::string_view space = {}, std::string_view name = {}) const;
};

/// Adds `name=value` to a target's query, percent-encoded; nothing where the value is "".
void add_query(std::string& target, std::string_view name, std::string_view value);

}  // namespace atl::kube
