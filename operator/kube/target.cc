#include "operator/kube/target.h"

#include <fmt/core.h>

#include <cctype>

namespace atl::kube {
namespace {

std::string encoded(std::string_view text) {
  std::string all;
  for (const unsigned char c : text) {
    const bool is_plain = std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      all += char(c);
    } else {
      all += fmt::format("%{:02X}", c);
    }
  }
  return all;
}

}  // namespace

std::string Resource::path(std::string_view space, std::string_view name) const {
  std::string path = group.empty() ? "/api/" : "/apis/" + group + "/";
  path += version;
  if (!space.empty()) path += "/namespaces/" + encoded(space);
  path += "/" + plural;
  if (!name.empty()) path += "/" + encoded(name);
  return path;
}

void add_query(std::string& target, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  target += target.find('?') == std::string::npos ? '?' : '&';
  target += encoded(name) + "=" + encoded(value);
}

}  // namespace atl::kube
