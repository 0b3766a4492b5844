// Which build this program is.
#pragma once

#include <string>

namespace atl {

/// The linker's build id, in hexadecimal: two programs have the same one only if their code is the same.
/// Throws Error where the program was linked without one.
std::string build_id();

}  // namespace atl
