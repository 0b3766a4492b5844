#include "telemetry/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/atomic_file.h"
#include "base/text.h"
#include "telemetry/confusion.h"
#include "telemetry/link_metrics.h"
#include "telemetry/record.h"
#include "telemetry/report/parts.h"

namespace atl {
namespace {

constexpr const char* kLogo =
    "<svg viewBox='0 0 48 48' fill='none' stroke='var(--accent)' stroke-width='2' aria-hidden='true'>"
    "<path d='M24 6 40 16M40 16v16M40 32 24 42M24 42 8 32M8 32V16M8 16 24 6' opacity='.45'/>"
    "<g fill='var(--accent)' stroke='none'><circle cx='24' cy='6' r='5'/><circle cx='40' cy='16' r='4'/>"
    "<circle cx='40' cy='32' r='5'/><circle cx='24' cy='42' r='3.5'/><circle cx='8' cy='32' r='4.5'/>"
    "<circle cx='8' cy='16' r='3.5'/></g></svg>";

std::string plural(Index count, const char* one, const char* many) {
  return fmt::format("{} {}", count_text(count), count == 1 ? one : many);
}

std::size_t servers(const RunSetting& setting) {
  return std::max<std::size_t>(1, std::set<std::string>(setting.hosts.begin(), setting.hosts.end()).size());
}

std::string head(const RunRecord& run) {
  const RunSetting& s = run.setting;
  const bool done = run.outcome == "completed" || run.outcome == "stopped early";
  return fmt::format(
      "<header>{}<div><h1>{}</h1><p>{} on {} · strategy {} · {} on {}</p></div><span "
      "class='outcome{}'>{}</span></header>\n",
      kLogo, html_escape(s.name), html_escape(s.model), html_escape(s.dataset), html_escape(s.strategy),
      plural(s.ranks, "rank", "ranks"), plural(Index(servers(s)), "server", "servers"),
      done ? "" : " partial", run.outcome.empty() ? "not finished" : html_escape(run.outcome));
}

std::string tile(const std::string& title, const std::string& value, const std::string& note) {
  return fmt::format("<div class=tile><span>{}</span><b>{}</b><small>{}</small></div>", title, value, note);
}

BatchCounts batches_of(const RunRecord& run) {
  BatchCounts sum;
  for (const EpochRecord& e : run.epochs) sum = sum + e.own.batches.value_or(BatchCounts{});
  return sum;
}

std::string tiles(const RunRecord& run) {
  const auto percent = [](const std::optional<double>& v) { return v ? percent_text(*v) : std::string("–"); };
  const std::string metric = html_escape(metric_title(run.setting.metric));
  const std::string beside = beside_metric(run);
  std::string html =
      tile("Test " + metric, percent(run.test), beside.empty() ? "best epoch’s weights" : beside);
  html += tile(
      "Validation " + metric, percent(run.validation),
      run.best_epoch > 0 ? fmt::format("best, at epoch {}", count_text(run.best_epoch)) : "never evaluated");
  html += tile("Epoch", run.epochs.empty() ? "–" : duration_text(run.epoch_seconds_median),
               fmt::format("median of {}", count_text(Index(run.epochs.size()))));
  html += tile("Start", duration_text(run.startup_seconds), "until the first epoch");
  if (!run.peak_memory_bytes.empty()) {
    const auto most = std::max_element(run.peak_memory_bytes.begin(), run.peak_memory_bytes.end());
    html += tile("Peak memory", bytes_text(double(*most)),
                 run.setting.ranks == 1 ? "resident" : fmt::format("largest of {} ranks", run.setting.ranks));
  }
  if (run.setting.ranks > 1 && !run.epochs.empty()) {
    double all = 0, between = 0;
    for (const EpochRecord& epoch : run.epochs)
      all += double(epoch.bytes_intra + epoch.bytes_inter), between += double(epoch.bytes_inter);
    const auto epochs = double(run.epochs.size());
    html += tile("Sent per epoch", bytes_text(all / epochs),
                 fmt::format("mean of {}; {} between servers", count_text(Index(run.epochs.size())),
                             bytes_text(between / epochs)));
  }
  if (const BatchCounts sum = batches_of(run); sum.cached_rows > 0)
    html += tile("Features from cache", percent_text(hit_rate(sum)), "of other ranks’ rows, on rank 0");
  return "<div class=tiles>" + html + "</div>\n";
}

std::string section(const char* title, const char* what, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<section><h2>{}</h2><p>{}</p>{}</section>\n", title, what, body);
}

std::string details(const RunRecord& run) {
  const RunSetting& s = run.setting;
  std::string rows;
  const auto row = [&](const std::string& key, const std::string& value) {
    if (!value.empty())
      rows += fmt::format("<tr><th>{}</th><td>{}</td></tr>", html_escape(key), html_escape(value));
  };
  row("data set", fmt::format("{}: {}, {}, {}, {}", s.dataset, plural(s.vertices, "vertex", "vertices"),
                              plural(s.arcs, "arc", "arcs"), plural(s.features, "feature", "features"),
                              plural(s.classes, "class", "classes")));
  row("checksum", s.dataset_checksum);
  row("model", fmt::format("{}, {}", s.model, plural(s.parameters, "parameter", "parameters")));
  row("strategy", s.strategy);
  row("partitioner", s.partitioner);
  row("ranks",
      fmt::format("{}, {} each", plural(s.ranks, "rank", "ranks"), plural(s.threads, "thread", "threads")));
  std::string hosts;
  for (const std::string& host : std::set<std::string>(s.hosts.begin(), s.hosts.end()))
    hosts += (hosts.empty() ? "" : ", ") + host;
  row("servers", hosts);
  row("machine", s.machine);
  for (const auto& [what, version] : s.versions) row(what, version);
  if (const Reached at{run.resumed_from, run.resumed_steps}; at > Reached{})
    row("resumed after", reached_text(at));
  row("output", s.output);
  return "<table>" + rows + "</table>";
}

}  // namespace

std::string report_html(const RunRecord& run) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
      "content='width=device-width'>"
      "<title>{} · Atoll</title><style>{}</style></head><body><main>\n",
      html_escape(run.setting.name), report_style());
  html += head(run) + tiles(run) + report_curves(run);
  html += section("Time by rank and phase",
                  "Seconds of the whole run by rank and phase. Communication counts only while a rank "
                  "waits for it.",
                  phase_bars(run.phases_by_rank));
  html += section(
      "Chunks by stage",
      "When each stage of the pipeline worked on which chunk in the last epoch: forward and, paler, backward. "
      "Blanks are its bubbles: the share of all ranks’ time in which they had no chunk.",
      stage_bars(run));
  html += section(
      "What matters of other ranks",
      "For each rank the vertices of other ranks and the features with the largest masks, with which the last "
      "step was made: a mask of 1 matters, one of 0 doesn't. Beside them what explaining took.",
      explained_tables(run));
  html += section("Memory by server",
                  "The most memory that each server's ranks were resident with, a piece for each rank.",
                  memory_bars(run));
  html += "<div class=grid>\n";
  html += section("Traffic between ranks",
                  "Bytes sent by pair of ranks over the whole run; lines separate servers.",
                  bytes_map(run.bytes_by_pair, run.setting.hosts) + traffic_table(run));
  html += section("Confusion matrix",
                  "Test vertices by true and predicted class, coloured by share of the true class.",
                  confusion_map(run.confusion.counts, run.confusion.classes) + confused_pairs(run.confusion));
  html += section("Edges and negative pairs",
                  "How well the scores of the test edges stand out among those of negative pairs.",
                  links_table(run.links));
  html += "</div>\n<div class=grid>\n";
  html += section("The run", "The model, the machines and the versions.", details(run));
  html += section("Manifest", "The manifest as run, with defaults filled in.",
                  "<pre>" + html_escape(run.setting.job_yaml) + "</pre>");
  html +=
      "</div>\n<footer>Made by Atoll from run.json and metrics.jsonl; <code>atoll report</code> makes it "
      "again.</footer>\n";
  return html + "</main><div id=tip></div><script>" + report_script() + "</script></body></html>\n";
}

void write_report(const RunRecord& run, const std::filesystem::path& path) {
  write_file_atomically(path, report_html(run));
}

}  // namespace atl
