// NumPy's unicode text: four bytes a letter there, UTF-8 here.
#pragma once

#include <string>
#include <string_view>

namespace atl {

/// One element, without the zeros that fill it up.
std::string utf8_of_ucs4(std::string_view bytes);

/// Without zeros at the end. What is no UTF-8 becomes U+FFFD.
std::string ucs4_of_utf8(std::string_view text);

}  // namespace atl
