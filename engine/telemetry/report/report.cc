#include "telemetry/report/report.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/json.h"
#include "base/members.h"
#include "base/text.h"
#include "telemetry/confusion.h"
#include "telemetry/link_metrics.h"
#include "telemetry/record.h"
#include "telemetry/run_folder.h"

namespace atl {

// The run's own JSON, as the page's script reads it.

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostMatrixRows = 100;     // rows of a matrix; finer ones couldn't be seen
constexpr std::size_t kMostStalenessLayers = 4;  // a layer has two curves, and the page eight colours

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
    // Each number of an epoch becomes a curve.
    each_member<EpochRecord>([&]([[maybe_unused]] const auto& each) {
      using Value = std::remove_cvref_t<decltype(epoch.*each.member)>;
      if constexpr (std::is_same_v<Value, double> || std::is_same_v<Value, std::optional<double>>)
        put(columns, run, e, each.name, epoch.*each.member);
    });
    put(columns, run, e, kMemberName<&RankSample::resident_bytes>, double(epoch.own.resident_bytes));
    for (const Phase& phase : epoch.own.phases) put(phases, run, e, phase.name, phase.seconds);
    for (std::size_t l = 0; e > 0 && l < std::min(epoch.staleness.size(), kMostStalenessLayers); ++l) {
      const Staleness& late = epoch.staleness[l];  // values of the epoch before
      put(staleness, run, e - 1, fmt::format("layer {}, rows", late.layer), late.rows);
      put(staleness, run, e - 1, fmt::format("layer {}, gradients", late.layer), late.gradients);
    }
  }
  columns["phases"] = std::move(phases);
  columns["staleness"] = std::move(staleness);
  return columns;
}

/// A row-major square matrix for the page. A matrix with too many rows becomes the sums of its blocks of
/// `step` by `step` entries.
Json matrix(const std::vector<std::int64_t>& values) {
  const auto rows = std::size_t(std::lround(std::sqrt(double(values.size()))));
  const std::size_t step = std::max<std::size_t>(1, (rows + kMostMatrixRows - 1) / kMostMatrixRows);
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
  // A "<" occurs only within strings of the JSON, where it may be escaped.
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  return text;
}

// The page.

namespace {

std::set<std::string> servers(const RunSetting& setting) {
  return {setting.hosts.begin(), setting.hosts.end()};
}

std::string head(const RunRecord& run) {
  const RunSetting& s = run.setting;
  const bool done = run.outcome == "completed" || run.outcome == "stopped early";
  return fmt::format(
      "<div><h1>{}</h1><p>{} on {} · strategy {} · {} on {}</p></div><span class='outcome{}'>{}</span>",
      html_escape(s.name), html_escape(s.model), html_escape(s.dataset), html_escape(s.strategy),
      counted_text(s.ranks, "rank"), counted_text(std::max<Index>(1, std::ssize(servers(s))), "server"),
      done ? "" : " partial", run.outcome.empty() ? "not finished" : html_escape(run.outcome));
}

std::string tile(const std::string& title, const std::string& value, const std::string& note) {
  return fmt::format("<div class=tile><span>{}</span><b>{}</b><small>{}</small></div>", title, value, note);
}

std::string tiles(const RunRecord& run) {
  const auto percent = [](const std::optional<double>& v) { return v ? percent_text(*v) : "–"; };
  const std::string metric = html_escape(metric_title(run.setting.metric)), beside = beside_metric(run);
  const std::string best =
      run.best_epoch > 0 ? "best, at epoch " + count_text(run.best_epoch) : "never evaluated";
  const std::string count = count_text(std::ssize(run.epochs));
  std::string html =
      tile("Test " + metric, percent(run.test), beside.empty() ? "best epoch’s weights" : beside) +
      tile("Validation " + metric, percent(run.validation), best) +
      tile("Epoch", run.epochs.empty() ? "–" : duration_text(run.epoch_seconds_median),
           "median of " + count) +
      tile("Start", duration_text(run.startup_seconds), "until the first epoch");
  if (!run.peak_memory_bytes.empty())
    html += tile("Peak memory", bytes_text(double(*std::ranges::max_element(run.peak_memory_bytes))),
                 run.setting.ranks == 1 ? "resident" : fmt::format("largest of {} ranks", run.setting.ranks));
  double within = 0, between = 0;
  BatchCounts batches;
  for (const EpochRecord& epoch : run.epochs) {
    within += double(epoch.bytes.intra), between += double(epoch.bytes.inter);
    batches = batches + epoch.own.batches.value_or(BatchCounts{});
  }
  const auto epochs = double(run.epochs.size());
  if (run.setting.ranks > 1 && epochs > 0)
    html += tile("Sent per epoch", bytes_text((within + between) / epochs),
                 fmt::format("mean of {}; {} between servers", count, bytes_text(between / epochs)));
  if (batches.cached_rows > 0)
    html += tile("Features from cache", percent_text(hit_rate(batches)), "of other ranks’ rows, on rank 0");
  return "<div class=tiles>" + html + "</div>\n";
}

/// A card: a picture that page.js draws (none for ""), and the table below it. Empty without a table.
std::string section(const char* title, const char* what, const char* picture, const std::string& table) {
  if (table.empty()) return "";
  const std::string figure = *picture == 0 ? "" : fmt::format("<figure data-picture={}></figure>", picture);
  return fmt::format("<section><h2>{}</h2><p>{}</p>{}{}</section>\n", title, what, figure, table);
}

std::string stages(const RunRecord& run) {
  if (!run.pipeline) return "";
  return fmt::format("<div>bubbles <b>{}</b> · convolutions by stage <b>{}</b></div>",
                     percent_text(run.pipeline->bubble), joined(run.pipeline->convolutions, ", "));
}

std::string details(const RunRecord& run) {
  const RunSetting& s = run.setting;
  std::vector<std::pair<std::string, std::string>> rows{
      {"data set",
       fmt::format("{}: {} {}, {}, {}, {} {}", s.dataset, count_text(s.vertices),
                   s.vertices == 1 ? "vertex" : "vertices", counted_text(s.arcs, "arc"),
                   counted_text(s.features, "feature"), s.classes, s.classes == 1 ? "class" : "classes")},
      {"checksum", s.dataset_checksum},
      {"model", fmt::format("{}, {}", s.model, counted_text(s.parameters, "parameter"))},
      {"strategy", s.strategy},
      {"partitioner", s.partitioner},
      {"ranks", fmt::format("{}, {} each", counted_text(s.ranks, "rank"), counted_text(s.threads, "thread"))},
      {"servers", joined(servers(s), ", ")},
      {"machine", s.machine}};
  rows.insert(rows.end(), s.versions.begin(), s.versions.end());
  const Reached at{run.resumed_from, run.resumed_steps};
  rows.emplace_back("resumed after", at > Reached{} ? reached_text(at) : "");
  rows.emplace_back("output", s.output);
  std::string html;
  for (const auto& [key, value] : rows)
    if (!value.empty())
      html += fmt::format("<tr><th>{}</th><td>{}</td></tr>", html_escape(key), html_escape(value));
  return "<table class=words>" + html + "</table>";
}

std::string grid(const std::string& sections) {
  return sections.empty() ? "" : "<div class=grid>\n" + sections + "</div>\n";
}

std::string figures(const RunRecord& run) {
  std::string html = tiles(run) + "<div class=grid id=curves></div>\n";
  html += section("Epochs", "Losses, metrics and the time of training alone, without evaluation.", "",
                  epochs_table(run));
  html += section("Time by rank and phase",
                  "Seconds since this start by rank and phase. Communication counts only while a rank "
                  "waits for it.",
                  "phases", phases_table(run));
  html += section(
      "Chunks by stage",
      "When each stage of the pipeline worked on which chunk in the last epoch: forward and, paler, backward. "
      "Blanks are its bubbles: the share of all ranks’ time in which they had no chunk.",
      "stages", stages(run));
  html += section(
      "What matters of other ranks",
      "For each rank the vertices of other ranks and the features with the largest masks, with which the last "
      "step was made: a mask of 1 matters, one of 0 doesn't. Beside them what explaining took.",
      "", explained_table(run));
  html += section("Memory by server",
                  "The most memory that each server's ranks were resident with, a piece for each rank.",
                  "memory", memory_table(run));
  html += section("Bytes by purpose",
                  "What training sent since this start, all ranks together, within servers (intra) and "
                  "between them (inter).",
                  "purposes", purposes_table(run));
  html += grid(section("Traffic between ranks",
                       "Bytes sent by pair of ranks since this start; lines separate servers.", "pairs",
                       traffic_table(run)) +
               section("Confusion matrix",
                       "Test vertices by true and predicted class, coloured by share of the true class.",
                       "confusion", confusion_table(run)) +
               section("Edges and negative pairs",
                       "How well the scores of the test edges stand out among those of negative pairs.", "",
                       links_table(run)));
  html += grid(section("The run", "The model, the machines and the versions.", "", details(run)) +
               section("Manifest", "The manifest as run, with defaults filled in.", "",
                       "<pre>" + html_escape(run.setting.job_yaml) + "</pre>"));
  return html;
}

}  // namespace

std::string report_html(const RunRecord& run) {
  const std::pair<std::string_view, std::string> parts[] = {{"<!--title-->", html_escape(run.setting.name)},
                                                            {"<!--style-->", kReportStyle},
                                                            {"<!--head-->", head(run)},
                                                            {"<!--figures-->", figures(run)},
                                                            {"<!--run-->", report_data(run)},
                                                            {"<!--script-->", kReportScript}};
  const std::string_view page = kReportPage;
  std::string html;
  std::size_t from = 0;  // the inserted texts aren't searched for marks
  for (const auto& [mark, text] : parts) {
    const std::size_t at = page.find(mark, from);
    ATOLL_CHECK(at != std::string_view::npos, "page.html has no {}", mark);
    html.append(page.substr(from, at - from)).append(text);
    from = at + mark.size();
  }
  return html.append(page.substr(from));
}

void write_report(const RunRecord& run, const std::filesystem::path& path) {
  write_file_atomically(path, report_html(run));
}

}  // namespace atl
