// What a tag (!!str, !!int) makes of a scalar, as kubectl takes it: quoted scalars and those with a tag of somebody's own
// are text, the tags of YAML must fit what is written.
#pragma once

#include <string>

#include "job/scalar.h"

namespace atl {

/// `tag` as the YAML library has it: "?" or "" of a plain scalar, "!" of a quoted one. Throws Error that begins with
/// `where`.
Scalar tagged_scalar(const std::string& tag, const std::string& written, const std::string& where);

}  // namespace atl
