// Numbers and text as a report writes them.
#include "telemetry/report/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace atl {

std::string format_number(NumberFormat format, double value) {
  switch (format) {
    case NumberFormat::kPercent:
      return fmt::format("{:.4g} %", value * 100);
    case NumberFormat::kSeconds:
      return value == 0 ? "0" : duration_text(value);
    case NumberFormat::kBytes:
      return bytes_text(value);
    case NumberFormat::kCount:
      return count_text(std::int64_t(std::llround(value)));
    case NumberFormat::kPlain:
      break;
  }
  return fmt::format("{:.4g}", value);
}

std::string format_tick(NumberFormat format, double value) {
  std::string text = format_number(format, value);
  if (format != NumberFormat::kSeconds && format != NumberFormat::kBytes) return text;
  const std::size_t unit = std::min(text.find(' '), text.size()), point = text.find('.');
  if (point >= unit) return text;
  std::size_t end = unit;
  while (text[end - 1] == '0') --end;
  if (end - 1 == point) --end;
  return text.erase(end, unit - end);
}

const char* format_name(NumberFormat format) {
  constexpr const char* kNames[] = {"plain", "percent", "seconds", "bytes", "count"};
  return kNames[std::size_t(format)];
}

std::string html_escape(const std::string& text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

}  // namespace atl
