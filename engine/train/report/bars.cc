#include "train/report/bars.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/readable.h"
#include "train/report/chart.h"

namespace atl {
namespace {

constexpr std::size_t kMostBars = 64;
constexpr double kWidth = 1064, kLeft = 92, kRight = 984;

struct Bar {
  std::string label;
  std::vector<double> seconds;  // (phases)
  double total() const {
    double sum = 0;
    for (const double s : seconds) sum += s;
    return sum;
  }
};

/// One bar a rank, or means over equal groups of neighbours.
std::vector<Bar> make_bars(const std::vector<std::vector<Phase>>& ranks) {
  const std::size_t bars = std::min(ranks.size(), kMostBars);
  std::vector<Bar> result;
  for (std::size_t bar = 0; bar < bars; ++bar) {
    const std::size_t begin = ranks.size() * bar / bars, end = ranks.size() * (bar + 1) / bars;
    Bar& b = result.emplace_back();
    b.label = end - begin == 1 ? fmt::format("rank {}", begin) : fmt::format("{}–{}", begin, end - 1);
    b.seconds.assign(ranks[0].size(), 0);
    for (std::size_t rank = begin; rank < end; ++rank)
      for (std::size_t p = 0; p < b.seconds.size() && p < ranks[rank].size(); ++p)
        b.seconds[p] += ranks[rank][p].seconds / double(end - begin);
  }
  return result;
}

std::string bar_svg(const Bar& bar, const std::vector<Phase>& names, double y, double height,
                    double per_second) {
  std::string svg;
  double x = kLeft;
  for (std::size_t p = 0; p < bar.seconds.size(); ++p) {
    const double width = bar.seconds[p] * per_second;
    if (width >= 0.05) {
      svg += fmt::format(
          "<rect class=f{} x={:.1f} y={:.1f} width={:.1f} height={:.1f}><title>{}: {} {}</title></rect>",
          p % 8 + 1, x, y, std::max(0.3, width - 0.7), height, bar.label, html_escape(names[p].name),
          duration_text(bar.seconds[p]));
    }
    x += width;
  }
  return svg;
}

/// Names with their share of all ranks' time.
std::string legend(const std::vector<Bar>& bars, const std::vector<Phase>& names) {
  double all = 0;
  for (const Bar& bar : bars) all += bar.total();
  std::string html;
  for (std::size_t p = 0; p < names.size(); ++p) {
    double sum = 0;
    for (const Bar& bar : bars) sum += bar.seconds[p];
    html += fmt::format("<span><i class='b{}'></i>{} <b>{}</b></span>", p % 8 + 1, html_escape(names[p].name),
                        percent_text(all > 0 ? sum / all : 0));
  }
  return html;
}

}  // namespace

std::string phase_bars(const std::vector<std::vector<Phase>>& phases_by_rank) {
  if (phases_by_rank.empty() || phases_by_rank[0].empty()) return "";
  const std::vector<Bar> bars = make_bars(phases_by_rank);
  double longest = 0;
  for (const Bar& bar : bars) longest = std::max(longest, bar.total());
  if (longest <= 0) return "";
  const double pitch = std::clamp(720.0 / double(bars.size()), 11.0, 34.0), height = pitch * 0.76;
  const double per_second = (kRight - kLeft) / longest, bottom = pitch * double(bars.size()) + 4;
  std::string svg;
  for (const double tick : axis_ticks(0, longest, 6)) {
    svg += fmt::format(
        "<path class=grid d='M{0:.1f} 0V{1:.1f}'/><text class=tick x={0:.1f} y={2:.1f} "
        "text-anchor=middle>{3}</text>",
        kLeft + tick * per_second, bottom, bottom + 18, format_tick(NumberFormat::kSeconds, tick));
  }
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = pitch * double(i) + 2, middle = y + height / 2 + 4;
    const bool labelled = pitch >= 14 || i % 2 == 0;
    svg += bar_svg(bars[i], phases_by_rank[0], y, height, per_second);
    if (!labelled) continue;
    svg += fmt::format("<text class=tick x={} y={:.1f} text-anchor=end>{}</text>", kLeft - 10, middle,
                       bars[i].label);
    svg += fmt::format("<text class=tick x={:.1f} y={:.1f}>{}</text>",
                       kLeft + bars[i].total() * per_second + 8, middle, duration_text(bars[i].total()));
  }
  return fmt::format(
      "<figure class=wide><figcaption><div class=legend>{}</div></figcaption>"
      "<svg viewBox='0 0 {} {:.0f}' role=img aria-label='seconds by phase and rank'>{}</svg></figure>\n",
      legend(bars, phases_by_rank[0]), kWidth, bottom + 24, svg);
}

}  // namespace atl
