// Line charts of a report: curves over epochs as inline SVG.
#include "telemetry/report/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace atl {
namespace {

constexpr double kWidth = 520, kHeight = 262;                         // of the whole picture
constexpr double kLeft = 54, kRight = 508, kTop = 12, kBottom = 236;  // of the plot in it
constexpr std::size_t kBuckets = 250;

/// A linear or logarithmic map of values to places.
struct Scale {
  double low, high, from, to;
  bool logarithmic = false;

  double operator()(double value) const {
    const auto place = [&](double v) { return logarithmic ? std::log10(v) : v; };
    return from + (place(value) - place(low)) / (place(high) - place(low)) * (to - from);
  }
};

/// From the least to the largest value of all curves, with a margin. Durations, bytes begin at 0; a loss that
/// spans more than a factor of 30 is drawn on a logarithmic scale.
Scale value_scale(const Chart& chart, const std::vector<std::size_t>& drawn) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Series& series : chart.series) {
    for (const std::size_t i : drawn) {
      if (!std::isfinite(series.y[i])) continue;
      low = std::min(low, series.y[i]);
      high = std::max(high, series.y[i]);
    }
  }
  if (chart.cap > 0) high = std::min(high, std::max(low, chart.cap));
  const bool plain = chart.format == NumberFormat::kPlain, percent = chart.format == NumberFormat::kPercent;
  if (plain && low > 0 && high > 30 * low) return {low / 1.2, high * 1.2, kBottom, kTop, true};
  if (!plain && !percent) low = std::min(low, 0.0);
  const double margin = high > low ? 0.06 * (high - low) : std::max(std::abs(high) * 0.1, 1e-3);
  const double ceiling = percent && high <= 1 ? std::min(1.0, high + margin) : high + margin;
  return {low >= 0 ? std::max(0.0, low - margin) : low - margin, ceiling, kBottom, kTop};
}

std::vector<double> value_ticks(const Scale& scale, NumberFormat format) {
  std::vector<double> ticks;
  if (scale.logarithmic) {
    for (double tick = std::pow(10, std::ceil(std::log10(scale.low))); tick <= scale.high; tick *= 10)
      ticks.push_back(tick);
    return ticks;
  }
  double unit = 1;  // round numbers of bytes are round in the unit in which they are written
  while (format == NumberFormat::kBytes && scale.high >= 1024 * unit) unit *= 1024;
  for (const double tick : axis_ticks(scale.low / unit, scale.high / unit, 5)) ticks.push_back(tick * unit);
  return ticks;
}

double place_of(const Chart& chart, std::size_t i) {
  return chart.seconds.empty() ? double(chart.epochs[i]) : chart.seconds[i];
}

std::string grid(const Chart& chart, const Scale& x, const Scale& y) {
  std::string svg;
  for (const double tick : value_ticks(y, chart.format)) {
    svg += fmt::format(
        "<path class=grid d='M{} {:.1f}H{}'/><text class=tick x={} y={:.1f} text-anchor=end>{}</text>", kLeft,
        y(tick), kRight, kLeft - 8, y(tick) + 4, format_tick(chart.format, tick));
  }
  const bool by_time = !chart.seconds.empty();
  for (const double tick : axis_ticks(x.low, x.high, 6)) {
    if (!by_time && tick != std::floor(tick)) continue;
    svg += fmt::format("<text class=tick x={:.1f} y={} text-anchor=middle>{}</text>", x(tick), kBottom + 20,
                       by_time ? format_tick(NumberFormat::kSeconds, tick) : count_text(std::int64_t(tick)));
  }
  return svg +
         fmt::format(
             "<path class=axis d='M{0} {1}H{2}'/><text class=tick x={3} y={4} text-anchor=end>{5}</text>",
             kLeft, kBottom, kRight, kLeft - 8, kBottom + 20, by_time ? "time" : "epoch");
}

std::string curve(const Chart& chart, const Series& series, const std::vector<std::size_t>& drawn,
                  const Scale& x, const Scale& y) {
  std::string path, dots;
  std::size_t count = 0;
  for (const std::size_t i : drawn) {
    if (!std::isfinite(series.y[i])) continue;
    const double px = x(place_of(chart, i)), py = y(std::min(series.y[i], y.high));
    path += fmt::format("{}{:.1f} {:.1f}", count++ == 0 ? 'M' : 'L', px, py);
    dots += fmt::format("<circle class='f{}' cx={:.1f} cy={:.1f} r=2.6 />", series.colour, px, py);
  }
  return fmt::format("<path class='line s{}' d='{}'/>{}", series.colour, path, count <= 25 ? dots : "");
}

/// What the script needs to show values under the pointer.
std::string hover_data(const Chart& chart, const std::vector<std::size_t>& drawn, const Scale& x) {
  std::string epochs, places, series;
  for (const std::size_t i : drawn) {
    epochs += fmt::format("{}{}", epochs.empty() ? "" : ",", chart.epochs[i]);
    places += fmt::format("{}{:.1f}", places.empty() ? "" : ",", x(place_of(chart, i)));
  }
  for (const Series& s : chart.series) {
    std::string values;
    for (const std::size_t i : drawn) {
      values += values.empty() ? "" : ",";
      values += std::isfinite(s.y[i]) ? fmt::format("{:.5g}", s.y[i]) : "null";
    }
    series += fmt::format(R"({}{{"name":"{}","colour":{},"y":[{}]}})", series.empty() ? "" : ",", s.name,
                          s.colour, values);
  }
  return fmt::format(
      R"(<script type="application/json">{{"format":"{}","epochs":[{}],"x":[{}],"series":[{}]}}</script>)",
      format_name(chart.format), epochs, places, series);
}

std::string legend(const Chart& chart) {
  std::string html;
  for (const Series& series : chart.series)
    html += fmt::format("<span><i class='b{}'></i>{}</span>", series.colour, html_escape(series.name));
  return html;
}

bool has_values(const Series& series) {
  return std::any_of(series.y.begin(), series.y.end(), [](double y) { return std::isfinite(y); });
}

}  // namespace

std::vector<std::size_t> thin(const Chart& chart, std::size_t buckets) {
  const std::size_t count = chart.epochs.size();
  std::vector<bool> keep(count, count <= 2 * buckets);
  if (count > 0) keep.front() = keep.back() = true;
  for (std::size_t bucket = 0; count > 2 * buckets && bucket < buckets; ++bucket) {
    const std::size_t begin = count * bucket / buckets, end = count * (bucket + 1) / buckets;
    for (const Series& series : chart.series) {
      std::size_t least = end, largest = end;
      for (std::size_t i = begin; i < end; ++i) {
        if (!std::isfinite(series.y[i])) continue;
        if (least == end || series.y[i] < series.y[least]) least = i;
        if (largest == end || series.y[i] > series.y[largest]) largest = i;
      }
      if (least != end) keep[least] = keep[largest] = true;
    }
  }
  std::vector<std::size_t> drawn;
  for (std::size_t i = 0; i < count; ++i)
    if (keep[i]) drawn.push_back(i);
  return drawn;
}

std::vector<double> axis_ticks(double low, double high, int count) {
  const double rough = (high - low) / count;
  if (!(rough > 0) || !std::isfinite(rough)) return {low};
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  double step = decade * 10;
  for (const double factor : {5., 2., 1.})
    if (decade * factor >= rough) step = decade * factor;
  std::vector<double> ticks;
  for (double n = std::ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; ++n)
    ticks.push_back(n * step + 0.0);  // −0 becomes 0
  return ticks;
}

std::string line_chart(const Chart& whole) {
  Chart chart = whole;
  std::erase_if(chart.series, [](const Series& series) { return !has_values(series); });
  if (chart.series.empty()) return "";
  const std::vector<std::size_t> drawn = thin(chart, kBuckets);
  const double first = place_of(chart, 0), last = place_of(chart, chart.epochs.size() - 1);
  const Scale x{first, last > first ? last : first + 1, kLeft, kRight}, y = value_scale(chart, drawn);
  std::string svg = grid(chart, x, y);
  if (chart.mark > 0) {
    svg += fmt::format("<path class=mark d='M{0:.1f} {1}V{2}'><title>best epoch: {3}</title></path>",
                       x(double(chart.mark)), kTop, kBottom, chart.mark);
  }
  for (const Series& series : chart.series) svg += curve(chart, series, drawn, x, y);
  return fmt::format(
      "<figure class=chart><figcaption><h3>{}</h3><div class=legend>{}</div></figcaption>"
      "<svg viewBox='0 0 {} {}' role=img aria-label='{} by {}'>{}<path class=cursor d='M0 "
      "{}V{}'/></svg>{}</figure>\n",
      html_escape(chart.title), legend(chart), kWidth, kHeight, html_escape(chart.title),
      chart.seconds.empty() ? "epoch" : "time", svg, kTop, kBottom, hover_data(chart, drawn, x));
}

}  // namespace atl
