// What a plain YAML scalar means: as kubectl takes it (sigs.k8s.io/yaml, YAML 1.1 without base 60), so that a
// file means the same here and on a cluster: yes and on are booleans, 010 is 8, 1_000 is 1000, "50" is text.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace atl {

/// Null, boolean, integer (that fits 64 bits), number, text. Integers beyond int64 become numbers.
using Scalar = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

Scalar resolve_scalar(const std::string& plain);

// What a tag (!!str, !!int) makes of a scalar, as kubectl takes it: quoted scalars and those with a tag of
// somebody's own are text, the tags of YAML must fit what is written.

/// `tag` as the YAML library has it: "?" or "" of a plain scalar, "!" of a quoted one. Throws Error that
/// begins with `where`.
Scalar tagged_scalar(const std::string& tag, const std::string& written, const std::string& where);

}  // namespace atl
