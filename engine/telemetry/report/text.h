// Numbers and text as a report writes them.
#pragma once

#include <string>

namespace atl {

/// How a report writes a number; report_script() knows the same names.
enum class NumberFormat { kPlain, kPercent, kSeconds, kBytes, kCount };
std::string format_number(NumberFormat format, double value);
/// A round number without needless zeros: "6 ms".
std::string format_tick(NumberFormat format, double value);
const char* format_name(NumberFormat format);

/// Text as it may stand in HTML, attributes included.
std::string html_escape(const std::string& text);

}  // namespace atl
