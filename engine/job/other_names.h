// Values that other tools have and manifests haven't: what they are called here, or that they aren't built.
#pragma once

#include <string>

namespace atl {

/// "did you mean sage?" or "rgcn isn't built;", for a field and a value that isn't one of its choices; "" where the value
/// is no known one. Whatever the value's case.
std::string other_name(const std::string& path, const std::string& given);

}  // namespace atl
