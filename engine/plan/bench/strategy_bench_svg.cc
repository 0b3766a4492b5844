// A comparison of strategies as a picture that stands alone: where an epoch's time goes, and what accuracy it buys, by epoch
// and by time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/readable.h"
#include "plan/bench/strategy_bench.h"
#include "train/report/chart.h"
#include "train/report/text.h"

namespace atl {
namespace {

constexpr double kWidth = 1000, kRight = 850;  // of the bars
constexpr double kPitch = 46, kBar = 18, kHead = 56, kLetter = 7.4, kLine = 20;
constexpr double kPlotWidth = 410, kPlotHeight = 240;
constexpr const char* kStyle =
    "text{font:13px system-ui,sans-serif;fill:#16202c}.soft{fill:#5b6775;font-size:12px}"
    ".compute{fill:#0b6bcb}.exposed{fill:#e07b00}.total{fill:#8a94a0}"
    ".grid{stroke:#e3e7ec;fill:none}.ideal{stroke:#16202c;stroke-width:2}.line{fill:none;stroke-width:1.8}";
// Okabe and Ito's, darkened for a white page (train/report/style.cc).
constexpr const char* kColours[] = {"#0b6bcb", "#e07b00", "#00906a", "#b5508f",
                                    "#7a6fd0", "#3aa3d8", "#a58b00", "#8a94a0"};

std::string rect(const char* kind, double x, double y, double width, double height, const std::string& says) {
  return fmt::format(
      "<rect class='{}' x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}'><title>{}</title></rect>", kind,
      x, y, std::max(0.0, width), height, says);
}

std::string text(double x, double y, const char* anchor, const std::string& words, const char* kind = "") {
  return fmt::format("<text class='{}' x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>", kind, x, y, anchor,
                     html_escape(words));
}

std::string name_of(const StrategyRow& row) {
  return row.label + (row.again ? " again" : "");
}

/// Where the bars begin, and a second's width.
struct BarScale {
  double left, per_second;
};

/// Compute and exposed communication stacked, all communication below them, a stroke where the ideal lies.
std::string bar(const StrategyRow& row, double y, const BarScale& s) {
  const double compute = row.compute * s.per_second, exposed = row.exposed * s.per_second;
  const double ideal = s.left + row.ideal * s.per_second;
  return text(s.left - 10, y + 14, "end", name_of(row)) +
         rect("compute", s.left, y, compute, kBar, "compute " + duration_text(row.compute)) +
         rect("exposed", s.left + compute, y, exposed, kBar, "exposed " + duration_text(row.exposed)) +
         rect("total", s.left, y + kBar + 2, row.communication * s.per_second, 6,
              "communication " + duration_text(row.communication)) +
         fmt::format("<path class='ideal' d='M{:.1f} {:.1f}v{}'/>", ideal, y - 3, kBar + 14) +
         text(std::max(ideal, s.left + compute + exposed) + 8, y + 14, "start",
              fmt::format("{} ({:.2f}×)", duration_text(row.epoch_median), row.speed_up()), "soft");
}

std::string bars(const StrategyBench& bench) {
  double longest = 1e-9;
  std::size_t letters = 0;
  for (const StrategyRow& row : bench.rows) {
    longest = std::max({longest, row.compute + row.exposed, row.communication, row.ideal});
    letters = std::max(letters, name_of(row).size());
  }
  const double left = 30 + kLetter * double(letters);
  const BarScale scale{left, (kRight - left) / longest};
  std::string svg = text(
      20, 24, "start",
      "An epoch: compute (blue), exposed communication (orange), all communication (grey), ideal (stroke)");
  for (std::size_t i = 0; i < bench.rows.size(); ++i)
    svg += bar(bench.rows[i], kHead + kPitch * double(i), scale);
  return svg;
}

/// One strategy's accuracy.
struct Curve {
  std::vector<double> x, y;
};

/// Of the first round: over epochs, or over seconds of training.
Curve curve_of(const StrategyRow& row, bool by_time) {
  Curve curve;
  double seconds = 0;
  for (const EpochRecord& e : row.runs->rounds[0].epochs) {
    seconds += e.epoch_seconds;
    const std::optional<double> value = e.validation ? e.validation : e.test;
    if (!value || !std::isfinite(*value)) continue;
    curve.x.push_back(by_time ? seconds : double(e.epoch));
    curve.y.push_back(*value);
  }
  return curve;
}

/// A plot's place, and the values at its edges.
struct Axes {
  double left, top, last, low, high;
  double x(double value) const { return left + value / last * kPlotWidth; }
  double y(double value) const { return top + (high - value) / (high - low) * kPlotHeight; }
};

std::string grid(const Axes& a, bool by_time) {
  std::string svg;
  for (const double tick : axis_ticks(a.low, a.high, 5)) {
    svg += fmt::format("<path class='grid' d='M{:.1f} {:.1f}h{}'/>", a.left, a.y(tick), kPlotWidth);
    svg += text(a.left - 6, a.y(tick) + 4, "end", format_tick(NumberFormat::kPercent, tick), "soft");
  }
  for (const double tick : axis_ticks(0, a.last, 5))
    svg += text(a.x(tick), a.top + kPlotHeight + 18, "middle",
                by_time ? format_tick(NumberFormat::kSeconds, tick) : fmt::format("{:g}", tick), "soft");
  return svg;
}

std::string line(const Axes& a, const Curve& curve, const std::string& colour, const std::string& label) {
  std::string path;
  for (std::size_t i = 0; i < curve.x.size(); ++i)
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', a.x(curve.x[i]), a.y(curve.y[i]));
  return fmt::format("<path class='line' stroke='{}' d='{}'><title>{}</title></path>", colour, path,
                     html_escape(label));
}

std::string plot(const StrategyBench& bench, double left, double top, bool by_time) {
  std::vector<Curve> curves;
  Axes a{left, top, 0, 1, 0};
  for (const StrategyRow& row : bench.rows) {
    if (row.again) continue;
    const Curve& curve = curves.emplace_back(curve_of(row, by_time));
    for (const double x : curve.x) a.last = std::max(a.last, x);
    for (const double y : curve.y) a.low = std::min(a.low, y), a.high = std::max(a.high, y);
  }
  if (a.last <= 0) return "";
  a.high += std::max(0.02, 0.05 * (a.high - a.low));
  std::string svg =
      text(left, top - 12, "start", by_time ? "Validation by time of training" : "Validation by epoch");
  svg += grid(a, by_time);
  for (std::size_t i = 0; i < curves.size(); ++i)
    svg += line(a, curves[i], kColours[i % std::size(kColours)], bench.rows[i].label);
  return svg;
}

/// A line each: labels may be long.
std::string legend(const StrategyBench& bench, double y) {
  std::string svg;
  for (std::size_t i = 0; i + 1 < bench.rows.size(); ++i, y += kLine) {
    svg += fmt::format("<rect x='60' y='{:.1f}' width='12' height='12' fill='{}'/>", y - 10,
                       kColours[i % std::size(kColours)]);
    svg += text(78, y, "start", bench.rows[i].label);
  }
  return svg;
}

}  // namespace

std::string to_svg(const StrategyBench& bench) {
  const double top = kHead + kPitch * double(bench.rows.size()) + 50, below = top + kPlotHeight + 50;
  const double height = below + kLine * double(bench.rows.size() - 1);
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1:.0f}' width='{0}' height='{1:.0f}'>"
      "<style>{2}</style><rect width='100%' height='100%' fill='#fff'/>{3}{4}{5}{6}</svg>\n",
      kWidth, height, kStyle, bars(bench), plot(bench, 60, top, false), plot(bench, 550, top, true),
      legend(bench, below));
}

}  // namespace atl
