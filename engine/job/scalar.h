// The meaning of a plain YAML scalar, as kubectl takes it (sigs.k8s.io/yaml, YAML 1.1 without base 60), so
// that a file means the same here and on a cluster: yes and on are booleans, 010 is 8, 1_000 is 1000, "50" is
// text.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

namespace atl {

/// Null, boolean, integer (that fits 64 bits), number, text. Integers beyond int64 become numbers.
using Scalar = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

Scalar resolve_scalar(const std::string& plain);

// The meaning of a scalar with a tag (!!str, !!int), as kubectl takes it. Quoted scalars and those with a
// user's own tag are text; YAML's own tags must fit what is written.

/// `tag` as the YAML library gives it: "?" or "" for a plain scalar, "!" for a quoted one. Throws Error that
/// begins with `where`.
Scalar tagged_scalar(const std::string& tag, const std::string& written, const std::string& where);

}  // namespace atl
