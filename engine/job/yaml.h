// YAML text → a tree of values that know where they were written. Only this file uses yaml-cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "job/scalar.h"

namespace atl {

/// One value of the tree.
struct Node {
  struct Entry;
  enum class Kind { kScalar, kList, kMap };
  Kind kind = Kind::kScalar;
  std::string where;    // "gnnjob.yaml:14", "--set training.epochs=50"
  std::string written;  // a scalar as written in the file
  Scalar scalar;
  std::vector<Node> items;     // list
  std::vector<Entry> entries;  // map, in the file's order; no key twice

  bool is_null() const { return kind == Kind::kScalar && std::holds_alternative<std::monostate>(scalar); }
  const Node* find(const std::string& key) const;
  Node* find(const std::string& key) { return const_cast<Node*>(std::as_const(*this).find(key)); }
};

struct Node::Entry {
  std::string key;
  Node value;
};

/// Limits on the size of a text and of its tree of values, with aliases expanded. The defaults are a
/// manifest's: an API server takes about as much.
struct YamlLimits {
  std::size_t bytes = 1 << 20;
  std::size_t values = 100'000;
};

/// All documents of the text that aren't empty. `name` begins each location ("gnnjob.yaml"). Throws Error
/// with name:line for what isn't YAML, for a key given twice, for a merge key, and beyond the limits.
std::vector<Node> parse_yaml(const std::string& text, const std::string& name, YamlLimits limits = {});

/// A value given on the command line; `where` is the location of all of it.
Node parse_yaml_value(const std::string& text, const std::string& where);

/// The value as JSON, as the API server would get it.
std::string to_json(const Node& node);

}  // namespace atl
