// Reads YAML text into a tree of values that know where they were written, and writes JSON as YAML text. Only
// yaml.cc uses yaml-cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace atl {

// The meaning of a plain YAML scalar, as kubectl takes it (sigs.k8s.io/yaml, YAML 1.1 without base 60), so
// that a file means the same here and on a cluster: yes and on are booleans, 010 is 8, 1_000 is 1000, "50" is
// text.

/// Null, boolean, integer (that fits 64 bits), number, text. Integers beyond int64 become numbers.
using Scalar = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

Scalar resolve_scalar(const std::string& plain);

// The meaning of a scalar with a tag (!!str, !!int), as kubectl takes it. Quoted scalars, and scalars with a
// user's own tag, are text. A scalar with one of YAML's own tags must be written as that type.

/// `tag` is what the YAML library gives: "?" or "" for a plain scalar, "!" for a quoted one. Throws Error
/// that begins with `where`.
Scalar tagged_scalar(const std::string& tag, const std::string& written, const std::string& where);

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

/// Limits on the size of a text and of its tree of values, counted with aliases expanded. The defaults suit a
/// manifest: an API server accepts about as much.
struct YamlLimits {
  std::size_t bytes = 1 << 20;
  std::size_t values = 100'000;
};

/// All documents of the text that aren't empty. `name` begins each location ("gnnjob.yaml"). Throws Error
/// with name:line for text that isn't YAML, for a repeated key, for a merge key, and for text beyond the
/// limits.
std::vector<Node> parse_yaml(const std::string& text, const std::string& name, YamlLimits limits = {});

/// A value given on the command line. `where` is the location of each part of it.
Node parse_yaml_value(const std::string& text, const std::string& where);

/// The value as JSON, as the API server would get it.
std::string to_json(const Node& node);

// Writes a tree of JSON as YAML in block style, which any parser reads back to the same tree. The same tree
// gives the same text, with keys in the tree's order.

std::string yaml_text(const nlohmann::ordered_json& tree);

// Refuses characters that a manifest must not contain, before any parser sees them.

/// Throws Error for bytes that aren't UTF-8, and for characters that parsers disagree on. `name` is in the
/// message, with a line if `lines`.
void refuse_characters(const std::string& text, const std::string& name, bool lines);

}  // namespace atl
