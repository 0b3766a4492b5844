// Stacked bars of a report: where each rank's time went, and what memory each server's ranks took.
#include "telemetry/report/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace atl {
namespace {

constexpr std::size_t kMostBars = 64;
constexpr double kWidth = 1064, kLeft = 92, kRight = 974;

struct Bar {
  std::string label;
  std::vector<double> values;  // of its pieces
  double total() const {
    double sum = 0;
    for (const double v : values) sum += v;
    return sum;
  }
};

struct BarChart {
  std::vector<Bar> bars;
  std::function<std::string(std::size_t)> name;  // of a piece
  std::string (*text)(double);
  NumberFormat format;
  std::string legend, what;
};

/// At most kMostBars: neighbours of equal groups are told by their mean.
std::vector<Bar> grouped(const std::vector<Bar>& all, const std::string& noun) {
  const std::size_t bars = std::min(all.size(), kMostBars);
  std::vector<Bar> result;
  for (std::size_t bar = 0; bar < bars; ++bar) {
    const std::size_t begin = all.size() * bar / bars, end = all.size() * (bar + 1) / bars;
    Bar& b = result.emplace_back();
    b.label = end - begin == 1 ? fmt::format("{} {}", noun, begin) : fmt::format("{}–{}", begin, end - 1);
    b.values.assign(all[begin].values.size(), 0);
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t p = 0; p < b.values.size() && p < all[i].values.size(); ++p)
        b.values[p] += all[i].values[p] / double(end - begin);
  }
  return result;
}

std::string bar_svg(const BarChart& chart, const Bar& bar, double y, double height, double scale) {
  std::string svg;
  double x = kLeft;
  for (std::size_t p = 0; p < bar.values.size(); ++p) {
    const double width = bar.values[p] * scale;
    if (width >= 0.05) {
      svg += fmt::format(
          "<rect class=f{} x={:.1f} y={:.1f} width={:.1f} height={:.1f}><title>{}: {} {}</title></rect>",
          p % 8 + 1, x, y, std::max(0.3, width - 0.7), height, bar.label, html_escape(chart.name(p)),
          chart.text(bar.values[p]));
    }
    x += width;
  }
  return svg;
}

std::string figure_of(const BarChart& chart) {
  double longest = 0;
  for (const Bar& bar : chart.bars) longest = std::max(longest, bar.total());
  if (longest <= 0) return "";
  const double pitch = std::clamp(720.0 / double(chart.bars.size()), 11.0, 34.0), height = pitch * 0.76;
  const double scale = (kRight - kLeft) / longest, bottom = pitch * double(chart.bars.size()) + 4;
  std::string svg;
  for (const double tick : axis_ticks(0, longest, 6)) {
    svg += fmt::format(
        "<path class=grid d='M{0:.1f} 0V{1:.1f}'/><text class=tick x={0:.1f} y={2:.1f} "
        "text-anchor=middle>{3}</text>",
        kLeft + tick * scale, bottom, bottom + 18, format_tick(chart.format, tick));
  }
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const Bar& bar = chart.bars[i];
    const double y = pitch * double(i) + 2, middle = y + height / 2 + 4;
    const bool labelled = pitch >= 14 || i % 2 == 0;
    svg += bar_svg(chart, bar, y, height, scale);
    if (!labelled) continue;
    svg += fmt::format("<text class=tick x={} y={:.1f} text-anchor=end>{}</text>", kLeft - 10, middle,
                       bar.label);
    svg += fmt::format("<text class=tick x={:.1f} y={:.1f}>{}</text>", kLeft + bar.total() * scale + 8,
                       middle, chart.text(bar.total()));
  }
  return fmt::format(
      "<figure class=wide><figcaption><div class=legend>{}</div></figcaption>"
      "<svg viewBox='0 0 {} {:.0f}' role=img aria-label='{}'>{}</svg></figure>\n",
      chart.legend, kWidth, bottom + 24, chart.what, svg);
}

/// Names with their share of all ranks' time.
std::string legend(const std::vector<Bar>& bars, const std::vector<Phase>& names) {
  double all = 0;
  for (const Bar& bar : bars) all += bar.total();
  std::string html;
  for (std::size_t p = 0; p < names.size(); ++p) {
    double sum = 0;
    for (const Bar& bar : bars) sum += bar.values[p];
    html += fmt::format("<span><i class='b{}'></i>{} <b>{}</b></span>", p % 8 + 1, html_escape(names[p].name),
                        percent_text(all > 0 ? sum / all : 0));
  }
  return html;
}

/// By server, in the order in which ranks name them.
std::vector<Bar> memory_by_server(const RunRecord& run) {
  std::vector<std::string> servers;
  std::vector<Bar> bars;
  for (std::size_t rank = 0; rank < run.peak_memory_bytes.size() && rank < run.setting.hosts.size(); ++rank) {
    const std::string& host = run.setting.hosts[rank];
    const auto place = std::size_t(std::ranges::find(servers, host) - servers.begin());
    if (place == servers.size()) servers.push_back(host), bars.emplace_back();
    bars[place].values.push_back(double(run.peak_memory_bytes[rank]));
  }
  return bars;
}

}  // namespace

std::string phase_bars(const std::vector<std::vector<Phase>>& phases_by_rank) {
  if (phases_by_rank.empty() || phases_by_rank[0].empty()) return "";
  std::vector<Bar> ranks;
  for (const std::vector<Phase>& phases : phases_by_rank)
    for (std::size_t p = (ranks.emplace_back(), 0); p < phases.size(); ++p)
      ranks.back().values.push_back(phases[p].seconds);
  const std::vector<Phase>& names = phases_by_rank[0];
  BarChart chart{grouped(ranks, "rank"),
                 [&](std::size_t p) { return names[p].name; },
                 duration_text,
                 NumberFormat::kSeconds,
                 {},
                 "seconds by phase and rank"};
  chart.legend = legend(chart.bars, names);
  return figure_of(chart);
}

std::string memory_bars(const RunRecord& run) {
  const std::vector<Bar> servers = memory_by_server(run);
  if (servers.empty()) return "";
  return figure_of({grouped(servers, "server"),
                    [](std::size_t p) { return fmt::format("its rank {}", p); },
                    bytes_text,
                    NumberFormat::kBytes,
                    {},
                    "peak memory by server and rank"});
}

}  // namespace atl
