#include "job/override.h"

#include "base/error.h"
#include "job/fields.h"

namespace atl {
namespace {

/// The members of a path; a name with a slash (nvidia.com/gpu) is one member.
std::vector<std::string> members(const std::string& path) {
  if (path.empty()) return {};
  auto all = members(field_parent(path));
  all.push_back(field_name(path));
  return all;
}

/// A scalar that stands for several members becomes the map that it means, so that one of them can be
/// changed.
void expand_shorthand(Node& node, const std::string& path) {
  for (const Field& field : all_fields()) {
    if (field.path != path || field.shorthand.empty() || node.kind != Node::Kind::kScalar || node.is_null())
      continue;
    Node map;
    map.kind = Node::Kind::kMap;
    map.where = node.where;
    for (const auto& name : field.shorthand) map.entries.push_back({name, node});
    node = std::move(map);
    return;
  }
}

Node& child(Node& parent, const std::string& name, const std::string& where) {
  if (parent.kind != Node::Kind::kMap) {
    parent = Node{};
    parent.kind = Node::Kind::kMap;
    parent.where = where;
  }
  if (Node* found = parent.find(name)) return *found;
  Node added;
  added.where = where;
  parent.entries.push_back({name, std::move(added)});
  return parent.entries.back().value;
}

}  // namespace

void apply_override(Node& manifest, const std::string& override) {
  const std::string where = "--set " + override;
  const auto equals = override.find('=');
  if (equals == std::string::npos || equals == 0) fail("{}: must be path=value (training.epochs=50)", where);
  std::string path = override.substr(0, equals);
  if (path.starts_with("spec.")) path = path.substr(5);

  const bool metadata = path.starts_with("metadata.");
  Node* at = metadata ? &manifest : &child(manifest, "spec", where);
  std::string so_far;
  for (const auto& name : members(path)) {
    if (name.empty()) fail("{}: a part of the path is empty", where);
    at = &child(*at, name, where);
    so_far += (so_far.empty() ? "" : ".") + name;
    if (so_far != path) expand_shorthand(*at, so_far);
  }
  const std::string value = override.substr(equals + 1);
  if (value.empty())
    fail("{}: has no value (give one behind the =, null for the default, or '\"\"' for an empty text)",
         where);
  *at = parse_yaml_value(value, where);
}

}  // namespace atl
