#include "train/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>
#include <tuple>

#include "base/atomic_file.h"
#include "base/readable.h"
#include "train/report_bars.h"
#include "train/report_chart.h"
#include "train/report_matrix.h"
#include "train/report_style.h"

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

/// "accuracy" from accuracy, "F1 (micro)" from f1Micro: names of the manifest as a reader knows them.
std::string metric_title(const std::string& metric) {
  if (metric == "f1Micro") return "F1 (micro)";
  if (metric == "rocAuc") return "ROC AUC";
  return metric.empty() ? "metric" : metric;
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

std::string tiles(const RunRecord& run) {
  const auto percent = [](const std::optional<double>& v) { return v ? percent_text(*v) : std::string("–"); };
  const std::string metric = html_escape(metric_title(run.setting.metric));
  std::string html = tile("Test " + metric, percent(run.test), "with the best epoch’s weights");
  html += tile(
      "Validation " + metric, percent(run.validation),
      run.best_epoch > 0 ? fmt::format("best, at epoch {}", count_text(run.best_epoch)) : "never evaluated");
  html += tile("Epoch", run.epochs.empty() ? "–" : duration_text(run.epoch_seconds_median),
               fmt::format("median of {}", count_text(Index(run.epochs.size()))));
  html += tile("Start", duration_text(run.startup_seconds), "load, partition, distribute");
  if (!run.peak_memory_bytes.empty()) {
    const auto [least, most] =
        std::minmax_element(run.peak_memory_bytes.begin(), run.peak_memory_bytes.end());
    html += tile("Peak memory", bytes_text(double(*most)),
                 run.setting.ranks == 1 ? "resident" : "largest rank; least " + bytes_text(double(*least)));
  }
  if (run.setting.ranks > 1 && !run.epochs.empty()) {
    const EpochRecord& last = run.epochs.back();
    html += tile("Sent per epoch", bytes_text(double(last.bytes_intra + last.bytes_inter)),
                 fmt::format("{} between servers", bytes_text(double(last.bytes_inter))));
  }
  return "<div class=tiles>" + html + "</div>\n";
}

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

std::string curves(const RunRecord& run) {
  std::vector<Index> epochs;
  for (const EpochRecord& epoch : run.epochs) epochs.push_back(epoch.epoch);
  const auto in_card = [](const std::string& chart) {
    return chart.empty() ? "" : "<section>" + chart + "</section>\n";
  };
  using E = const EpochRecord&;
  std::string html =
      in_card(line_chart({"Loss",
                          NumberFormat::kPlain,
                          epochs,
                          {series(run, "training", 1, [](E e) { return e.loss; }),
                           series(run, "validation", 2, [](E e) { return e.validation_loss; })},
                          run.best_epoch}));
  std::string metric = metric_title(run.setting.metric);
  metric[0] = char(std::toupper(static_cast<unsigned char>(metric[0])));
  html += in_card(line_chart({metric,
                              NumberFormat::kPercent,
                              epochs,
                              {series(run, "training", 1, [](E e) { return e.train; }),
                               series(run, "validation", 2, [](E e) { return e.validation; }),
                               series(run, "test", 3, [](E e) { return e.test; })},
                              run.best_epoch}));
  html += in_card(
      line_chart({"Epoch time",
                  NumberFormat::kSeconds,
                  epochs,
                  {series(run, "training, evaluation left out", 1, [](E e) { return e.epoch_seconds; })},
                  0}));
  html += in_card(line_chart({"Learning rate",
                              NumberFormat::kPlain,
                              epochs,
                              {series(run, "learning rate", 5, [](E e) { return e.learning_rate; })},
                              0}));
  return "<div class=grid>\n" + html + "</div>\n";
}

/// The five most frequent mistakes, worst first.
std::string confused_pairs(const ConfusionMatrix& confusion) {
  struct Pair {
    std::int64_t count, of;
    int truth, taken_for;
  };
  std::vector<Pair> pairs;
  const int n = confusion.classes;
  for (int t = 0; t < n; ++t) {
    const auto row = confusion.counts.begin() + std::ptrdiff_t(t) * n;
    std::int64_t of = 0;
    for (int p = 0; p < n; ++p) of += row[p];
    for (int p = 0; p < n; ++p)
      if (p != t && row[p] > 0) pairs.push_back({row[p], of, t, p});
  }
  const std::size_t shown = std::min<std::size_t>(5, pairs.size());
  std::partial_sort(
      pairs.begin(), pairs.begin() + std::ptrdiff_t(shown), pairs.end(), [](const Pair& a, const Pair& b) {
        return std::tuple(-a.count, a.truth, a.taken_for) < std::tuple(-b.count, b.truth, b.taken_for);
      });
  std::string rows;
  for (std::size_t i = 0; i < shown; ++i) {
    const Pair& pair = pairs[i];
    rows += fmt::format("<tr><td>class {} taken for class {}</td><td>{} of {} · {}</td></tr>", pair.truth,
                        pair.taken_for, count_text(pair.count), count_text(pair.of),
                        percent_text(double(pair.count) / double(pair.of)));
  }
  return rows.empty() ? "" : "<table class=pairs>" + rows + "</table>";
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
  if (run.resumed_from > 0) row("resumed after", "epoch " + count_text(run.resumed_from));
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
  html += head(run) + tiles(run) + curves(run);
  html += section("Where time went",
                  "Seconds of the whole run by rank and phase. Communication counts only where a rank stood "
                  "waiting for it.",
                  phase_bars(run.phases_by_rank));
  html += "<div class=grid>\n";
  html += section("Who sent to whom", "Bytes by pair of ranks over the whole run; lines separate servers.",
                  bytes_map(run.bytes_by_pair, run.setting.hosts));
  html += section("What was taken for what",
                  "Test vertices by true and predicted class, coloured by share of the true class.",
                  confusion_map(run.confusion.counts, run.confusion.classes) + confused_pairs(run.confusion));
  html += "</div>\n<div class=grid>\n";
  html += section("The run", "What was trained, where, and with which versions.", details(run));
  html += section("Manifest", "As run, with the defaults filled in.",
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
