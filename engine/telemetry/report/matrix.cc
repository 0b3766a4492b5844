// Heat maps of a report: who sends to whom, what is taken for what.
#include "telemetry/report/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace atl {
namespace {

constexpr int kLevels = 20;  // shades: cells of one shade are one path, which keeps large matrices small
constexpr int kMostRows = 100;
constexpr double kLeft = 58, kTop = 42, kSide = 420;  // of the matrix in the picture

double cell_of(const HeatMap& map) {
  return std::min(kSide / map.size, 92.0);
}

std::string cells(const HeatMap& map, double cell) {
  std::array<std::array<std::string, kLevels + 1>, 2> paths;  // (mistake, shade)
  const double gap = cell > 12 ? 1.5 : cell > 6 ? 0.6 : 0;
  for (int r = 0; r < map.size; ++r) {
    for (int c = 0; c < map.size; ++c) {
      const double share = map.intensity[std::size_t(r) * std::size_t(map.size) + std::size_t(c)];
      if (!(share > 0)) continue;
      const int shade = std::clamp(int(std::ceil(share * kLevels)), 1, kLevels);
      paths[map.mistakes && r != c][std::size_t(shade)] +=
          fmt::format("M{:.4g} {:.4g}h{:.3g}v{:.3g}h-{:.3g}z", kLeft + c * cell, kTop + r * cell, cell - gap,
                      cell - gap, cell - gap);
    }
  }
  std::string svg;
  for (std::size_t mistake = 0; mistake < 2; ++mistake)
    for (std::size_t shade = 1; shade <= kLevels; ++shade)
      if (!paths[mistake][shade].empty())
        svg += fmt::format("<path class={} fill-opacity={:.3f} d='{}'/>", mistake ? "miss" : "heat",
                           0.06 + 0.94 * double(shade) / kLevels, paths[mistake][shade]);
  return svg;
}

/// Numbers in the cells, where they have room.
std::string numbers(const HeatMap& map, double cell) {
  if (cell < 40) return "";
  std::string svg;
  for (int r = 0; r < map.size; ++r) {
    for (int c = 0; c < map.size; ++c) {
      const auto i = std::size_t(r) * std::size_t(map.size) + std::size_t(c);
      if (map.values[i] == 0) continue;
      const std::string text =
          format_number(map.bytes ? NumberFormat::kBytes : NumberFormat::kCount, map.values[i]);
      svg += fmt::format("<text class='number{}' x={:.1f} y={:.1f} text-anchor=middle>{}</text>",
                         map.intensity[i] > 0.5 ? " strong" : "", kLeft + (c + 0.5) * cell - 0.75,
                         kTop + (r + 0.5) * cell + 3.5, text);
    }
  }
  return svg;
}

std::string axes(const HeatMap& map, double cell, int step) {
  std::string svg;
  const int every = cell >= 16 ? 1 : int(std::ceil(22 / cell));
  for (int i = 0; i < map.size; i += every) {
    const double place = (i + 0.5) * cell;
    svg += fmt::format("<text class=tick x={:.1f} y={} text-anchor=middle>{}</text>", kLeft + place, kTop - 7,
                       i * step);
    svg += fmt::format("<text class=tick x={} y={:.1f} text-anchor=end>{}</text>", kLeft - 8,
                       kTop + place + 4, i * step);
  }
  const double middle = cell * map.size / 2;
  svg += fmt::format("<text class=tick x={:.1f} y=14 text-anchor=middle>{}</text>", kLeft + middle,
                     map.column_title);
  svg += fmt::format(
      "<text class=tick transform='translate(14 {:.1f}) rotate(-90)' text-anchor=middle>{}</text>",
      kTop + middle, map.row_title);
  for (const int border : map.borders) {
    const double along = border * cell - 0.75;
    svg += fmt::format("<path class=border d='M{0:.1f} {1}v{2:.1f}M{3} {4:.1f}h{2:.1f}'/>", kLeft + along,
                       kTop, cell * map.size, kLeft, kTop + along);
  }
  return svg;
}

std::string figure(const HeatMap& map, int step) {
  const double cell = cell_of(map), side = cell * map.size;
  std::string values;
  for (const double value : map.values) values += fmt::format("{}{:.0f}", values.empty() ? "" : ",", value);
  return fmt::format(
      "<figure class=matrix><svg viewBox='0 0 {:.0f} {:.0f}' style='max-width:{:.0f}px' role=img "
      "aria-label='{} by {}'>"
      "<rect class=floor x={} y={} width={:.1f} height={:.1f} rx=3 />{}{}{}</svg>"
      R"(<script type="application/json">{{"format":"{}","left":{},"top":{},"cell":{:.4f},"size":{},"step":{},"row":"{}","column":"{}","values":[{}]}}</script></figure>)"
      "\n",
      kLeft + side + 8, kTop + side + 8, kLeft + side + 8, map.row_title, map.column_title, kLeft - 2,
      kTop - 2, side + 3, side + 3, cells(map, cell), numbers(map, cell), axes(map, cell, step),
      format_name(map.bytes ? NumberFormat::kBytes : NumberFormat::kCount), kLeft, kTop, cell, map.size, step,
      map.row_word, map.column_word, values);
}

}  // namespace

int coarsen(std::vector<std::int64_t>& values, int& size, int most) {
  const int step = (size + most - 1) / most;
  if (step <= 1) return 1;
  const int blocks = (size + step - 1) / step;
  std::vector<std::int64_t> sums(std::size_t(blocks) * std::size_t(blocks));
  for (int r = 0; r < size; ++r)
    for (int c = 0; c < size; ++c)
      sums[std::size_t(r / step) * std::size_t(blocks) + std::size_t(c / step)] +=
          values[std::size_t(r) * std::size_t(size) + std::size_t(c)];
  values = std::move(sums);
  size = blocks;
  return step;
}

std::string bytes_map(std::span<const std::int64_t> bytes, std::span<const std::string> hosts) {
  std::vector<std::int64_t> values(bytes.begin(), bytes.end());
  int size = int(std::lround(std::sqrt(double(values.size()))));
  if (std::all_of(values.begin(), values.end(), [](std::int64_t v) { return v == 0; })) return "";
  const int step = coarsen(values, size, kMostRows);
  const double largest = double(*std::max_element(values.begin(), values.end()));
  HeatMap map;
  map.size = size;
  map.bytes = true;
  map.row_title = "from rank";
  map.column_title = "to rank";
  map.row_word = map.column_word = "rank";
  for (const std::int64_t value : values) {
    map.values.push_back(double(value));
    map.intensity.push_back(double(value) / largest);
  }
  for (std::size_t rank = 1; step == 1 && rank < hosts.size(); ++rank)
    if (hosts[rank] != hosts[rank - 1]) map.borders.push_back(int(rank));
  return figure(map, step);
}

std::string confusion_map(std::span<const std::int64_t> counts, int classes) {
  if (classes == 0) return "";
  std::vector<std::int64_t> values(counts.begin(), counts.end());
  int size = classes;
  const int step = coarsen(values, size, kMostRows);
  HeatMap map;
  map.size = size;
  map.mistakes = true;
  map.row_title = "true class";
  map.column_title = "predicted class";
  map.row_word = "class";
  map.column_word = "class";
  for (int r = 0; r < size; ++r) {
    const auto row = values.begin() + std::ptrdiff_t(r) * size;
    std::int64_t sum = 0;
    for (int c = 0; c < size; ++c) sum += row[c];
    for (int c = 0; c < size; ++c) {
      map.values.push_back(double(row[c]));
      map.intensity.push_back(sum > 0 ? double(row[c]) / double(sum) : 0);
    }
  }
  return figure(map, step);
}

}  // namespace atl
