#include "telemetry/report/stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/readable.h"
#include "telemetry/report/chart.h"

namespace atl {
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
