// The curves of a report: loss, metric, epoch time and learning rate or memory, by epoch.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "telemetry/link_metrics.h"
#include "telemetry/report/parts.h"

namespace atl {
namespace {

constexpr std::size_t kMostStalenessLayers = 4;  // two curves each, of the page's eight colours

/// One curve of what `value` finds in each epoch.
template <class Value>
Series series(const RunRecord& run, const char* name, int colour, Value value) {
  Series s{name, colour, {}};
  for (const EpochRecord& epoch : run.epochs) {
    const std::optional<double> y = value(epoch);
    s.y.push_back(y.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return s;
}

using Epoch = const EpochRecord&;

Chart loss_chart(const RunRecord& run) {
  Chart chart{.title = "Loss", .mark = run.best_epoch};
  chart.series = {series(run, "training", 1, [](Epoch e) { return e.loss; }),
                  series(run, "validation", 2, [](Epoch e) { return e.validation_loss; })};
  return chart;
}

Chart metric_chart(const RunRecord& run) {
  Chart chart{
      .title = metric_title(run.setting.metric), .format = NumberFormat::kPercent, .mark = run.best_epoch};
  chart.title[0] = char(std::toupper(static_cast<unsigned char>(chart.title[0])));
  chart.series = {series(run, "training", 1, [](Epoch e) { return e.train; }),
                  series(run, "validation", 2, [](Epoch e) { return e.validation; }),
                  series(run, "test", 3, [](Epoch e) { return e.test; })};
  return chart;
}

/// How soon a value is reached is what strategies are compared by.
Chart metric_by_time_chart(const RunRecord& run) {
  Chart chart = metric_chart(run);
  chart.title += " by time of training";
  chart.mark = 0;
  double sum = 0;
  for (const EpochRecord& epoch : run.epochs) chart.seconds.push_back(sum += epoch.epoch_seconds);
  return chart;
}

/// The few slowest epochs, such as the first, which allocates, would squeeze all others into a line.
Chart time_chart(const RunRecord& run) {
  Chart chart{.title = "Epoch time", .format = NumberFormat::kSeconds};
  chart.series = {series(run, "training alone", 1, [](Epoch e) { return e.epoch_seconds; })};
  std::vector<double> sorted = chart.series[0].y;
  std::erase_if(sorted, [](double seconds) { return !std::isfinite(seconds); });
  if (sorted.empty()) return chart;
  const auto slow = sorted.begin() + std::ptrdiff_t(sorted.size() * 97 / 100);
  std::nth_element(sorted.begin(), slow, sorted.end());
  chart.cap = 1.5 * *slow;
  return chart;
}

/// What an epoch says of the one before it is drawn where it belongs.
Series staleness_series(const RunRecord& run, std::size_t layer, const std::string& name, int colour,
                        double Staleness::*what) {
  Series s{name, colour, std::vector<double>(run.epochs.size(), std::numeric_limits<double>::quiet_NaN())};
  for (std::size_t e = 1; e < run.epochs.size(); ++e)
    if (layer < run.epochs[e].staleness.size()) s.y[e - 1] = run.epochs[e].staleness[layer].*what;
  return s;
}

/// Of a strategy whose rows come late; no curves elsewhere.
Chart staleness_chart(const RunRecord& run) {
  Chart chart{.title = "Error of stale rows and gradients", .format = NumberFormat::kPercent};
  const auto fullest = std::ranges::max_element(run.epochs, {}, [](Epoch e) { return e.staleness.size(); });
  for (std::size_t l = 0; l < fullest->staleness.size() && l < kMostStalenessLayers; ++l) {
    const std::string layer = fmt::format("layer {}", fullest->staleness[l].layer);
    chart.series.push_back(staleness_series(run, l, layer + ", rows", int(2 * l) + 1, &Staleness::rows));
    chart.series.push_back(
        staleness_series(run, l, layer + ", gradients", int(2 * l) + 2, &Staleness::gradients));
  }
  return chart;
}

/// A learning rate that never changes tells nothing; how memory grows does.
Chart last_chart(const RunRecord& run) {
  const double first = run.epochs.front().learning_rate;
  if (std::any_of(run.epochs.begin(), run.epochs.end(), [&](Epoch e) { return e.learning_rate != first; })) {
    Chart chart{.title = "Learning rate"};
    chart.series = {series(run, "of each epoch", 5, [](Epoch e) { return e.learning_rate; })};
    return chart;
  }
  Chart chart{.title = "Memory", .format = NumberFormat::kBytes};
  chart.series = {series(run, "resident on rank 0", 5, [](Epoch e) { return double(e.own.resident_bytes); })};
  return chart;
}

}  // namespace

std::string report_curves(const RunRecord& run) {
  if (run.epochs.empty()) return "";
  std::string cards;
  for (Chart chart : {loss_chart(run), metric_chart(run), metric_by_time_chart(run), time_chart(run),
                      last_chart(run), staleness_chart(run)}) {
    for (const EpochRecord& epoch : run.epochs) chart.epochs.push_back(epoch.epoch);
    const std::string figure = line_chart(chart);
    if (!figure.empty()) cards += "<section>" + figure + "</section>\n";
  }
  return "<div class=grid>\n" + cards + "</div>\n";
}

// The stages of a pipeline over an epoch, as a report draws them: which chunk each worked on, and where it stood still.

namespace {

constexpr double kWidth = 1064, kLeft = 92, kRight = 1050;

struct Axis {
  double per_second, pitch;
  double x(double seconds) const { return kLeft + seconds * per_second; }
};

std::string cell(const Axis& axis, std::size_t stage, const ChunkWork& chunk, bool back) {
  const double begin = back ? chunk.backward_begin : chunk.forward_begin,
               end = back ? chunk.backward_end : chunk.forward_end;
  return fmt::format(
      "<rect class=f{} x={:.1f} y={:.1f} width={:.1f} height={:.1f} fill-opacity={}><title>stage {}, chunk {}: {} "
      "{}</title></rect>",
      chunk.chunk % 8 + 1, axis.x(begin), axis.pitch * double(stage) + 2,
      std::max(0.3, (end - begin) * axis.per_second - 0.5), axis.pitch * 0.76, back ? 0.55 : 1, stage,
      chunk.chunk, back ? "backward" : "forward", duration_text(end - begin));
}

}  // namespace

std::string stage_bars(const RunRecord& run) {
  if (!run.pipeline) return "";
  const auto& stages = run.pipeline->stages;
  double longest = 0;
  for (const auto& stage : stages)
    for (const ChunkWork& chunk : stage) longest = std::max(longest, chunk.backward_end);
  if (longest <= 0) return "";
  const Axis axis{(kRight - kLeft) / longest, std::clamp(480.0 / double(stages.size()), 11.0, 34.0)};
  const double bottom = axis.pitch * double(stages.size()) + 4;
  std::string svg;
  for (const double tick : axis_ticks(0, longest, 6))
    svg += fmt::format(
        "<path class=grid d='M{0:.1f} 0V{1:.1f}'/><text class=tick x={0:.1f} y={2:.1f} "
        "text-anchor=middle>{3}</text>",
        axis.x(tick), bottom, bottom + 18, format_tick(NumberFormat::kSeconds, tick));
  for (std::size_t s = 0; s < stages.size(); ++s) {
    svg += fmt::format("<text class=tick x={} y={:.1f} text-anchor=end>stage {}</text>", kLeft - 10,
                       axis.pitch * (double(s) + 0.38) + 6, s);
    for (const bool back : {false, true})
      for (const ChunkWork& chunk : stages[s]) svg += cell(axis, s, chunk, back);
  }
  return fmt::format(
      "<figure class=wide><figcaption><div class=legend><span>bubbles <b>{}</b></span><span>convolutions by stage "
      "<b>{}</b></span></div></figcaption>"
      "<svg viewBox='0 0 {} {:.0f}' role=img aria-label='chunks by stage and time'>{}</svg></figure>\n",
      percent_text(run.pipeline->bubble), fmt::join(run.pipeline->convolutions, ", "), kWidth, bottom + 24,
      svg);
}

}  // namespace atl
