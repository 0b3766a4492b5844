// Text as Unicode.
#pragma once

#include <cstddef>
#include <string_view>

namespace atl {

/// Where the first byte lies that is not part of well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates,
/// nothing above U+10FFFF); npos where all is well.
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace atl
