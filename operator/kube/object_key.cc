#include "operator/kube/object_key.h"

#include "operator/kube/json_cut.h"

namespace atl::kube {
namespace {

/// A string member without its quotes. Names, UIDs and versions hold nothing that JSON escapes.
std::string_view plain(std::string_view object, std::string_view name) {
  const std::string_view text = member_text(object, name);
  return text.size() >= 2 && text[0] == '"' ? text.substr(1, text.size() - 2) : std::string_view();
}

}  // namespace

ObjectKey object_key(std::string_view object) {
  const std::string_view metadata = member_text(object, "metadata");
  ObjectKey key;
  const std::string_view space = plain(metadata, "namespace");
  if (!space.empty()) key.name = std::string(space) + "/";
  key.name += plain(metadata, "name");
  key.uid = plain(metadata, "uid");
  key.version = plain(metadata, "resourceVersion");
  return key;
}

}  // namespace atl::kube
