// --set path=value: a change to the manifest's tree before it is read, so that it is parsed, checked and
// reported like a line of the file.
#pragma once

#include <string>

#include "job/yaml.h"

namespace atl {

/// `override` is "training.epochs=50"; "spec." in front is allowed. Throws Error where it has no '=' or no
/// path.
void apply_override(Node& manifest, const std::string& override);

}  // namespace atl
