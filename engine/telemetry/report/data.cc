// A run's own JSON, as a report's script reads it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/json.h"
#include "base/members.h"
#include "telemetry/link_metrics.h"
#include "telemetry/record_json.h"
#include "telemetry/report/report.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 100;           // of a matrix: finer ones couldn't be seen
constexpr std::size_t kMostStalenessLayers = 4;  // two curves each, of the page's eight colours

/// Puts a column's value at an epoch. Epochs without a value have null, and a column without any value is
/// left out. Six digits suffice for a picture and take a third of the space that a number may.
void put(Json& columns, const RunRecord& run, std::size_t e, const std::string& name,
         std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return;
  Json& column = columns[name];
  if (column.is_null()) column = Json(run.epochs.size(), nullptr);
  column[e] = std::strtod(fmt::format("{:.6g}", *value).c_str(), nullptr);
}

Json columns_of(const RunRecord& run) {
  Json columns = Json::object(), phases = Json::object(), staleness = Json::object();
  for (std::size_t e = 0; e < run.epochs.size(); ++e) {
    const EpochRecord& epoch = run.epochs[e];
    columns[kMemberName<&EpochRecord::epoch>].push_back(epoch.epoch);
    // Each number is a curve.
    each_member<EpochRecord>([&]([[maybe_unused]] const auto& each) {
      using Value = std::remove_cvref_t<decltype(epoch.*each.member)>;
      if constexpr (std::is_same_v<Value, double> || std::is_same_v<Value, std::optional<double>>)
        put(columns, run, e, each.name, epoch.*each.member);
    });
    put(columns, run, e, kMemberName<&RankSample::resident_bytes>, double(epoch.own.resident_bytes));
    for (const Phase& phase : epoch.own.phases) put(phases, run, e, phase.name, phase.seconds);
    for (std::size_t l = 0; e > 0 && l < std::min(epoch.staleness.size(), kMostStalenessLayers); ++l) {
      const Staleness& late = epoch.staleness[l];  // belongs to the epoch before
      put(staleness, run, e - 1, fmt::format("layer {}, rows", late.layer), late.rows);
      put(staleness, run, e - 1, fmt::format("layer {}, gradients", late.layer), late.gradients);
    }
  }
  columns["phases"] = std::move(phases);
  columns["staleness"] = std::move(staleness);
  return columns;
}

/// A row-major square matrix. One with too many rows becomes the sums of its blocks of `step` by `step`
/// entries.
Json matrix(const std::vector<std::int64_t>& values) {
  const auto rows = std::size_t(std::lround(std::sqrt(double(values.size()))));
  const std::size_t step = std::max<std::size_t>(1, (rows + kMostRows - 1) / kMostRows);
  const std::size_t size = (rows + step - 1) / step;
  std::vector<std::int64_t> sums(size * size);
  for (std::size_t i = 0; i < rows * rows; ++i) sums[i / rows / step * size + i % rows / step] += values[i];
  return {{"size", size}, {"step", step}, {"values", sums}};
}

}  // namespace

std::string report_data(const RunRecord& run) {
  RunRecord rest = run;
  rest.epochs.clear(), rest.bytes_by_pair.clear(), rest.setting.job_yaml.clear();
  rest.confusion = {};
  Json json = parse_ordered_json(run_document(rest));
  json["metricTitle"] = metric_title(run.setting.metric);
  json["bytesByPair"] = matrix(run.bytes_by_pair);
  json["confusion"] = matrix(run.confusion.counts);
  json["epochs"] = columns_of(run);
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  // A "<" can occur only within strings, where it may be escaped.
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace atl
