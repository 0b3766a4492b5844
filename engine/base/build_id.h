// Which build this program is.
#pragma once

#include <string>

namespace atl {

/// The linker's build id, in hexadecimal: the same exactly where the program's code is. Throws Error where
/// the program was linked without one.
std::string build_id();

}  // namespace atl
