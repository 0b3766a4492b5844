// Small tables of a report, below its heat maps: what a matrix says in a few words.
#include <fmt/format.h>
#include <algorithm>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "telemetry/report/parts.h"

namespace atl {
namespace {

std::string table(const std::string& rows) {
  return rows.empty() ? "" : "<table class=pairs>" + rows + "</table>";
}

std::string row(const std::string& what, const std::string& value) {
  return fmt::format("<tr><td>{}</td><td>{}</td></tr>", what, value);
}

}  // namespace

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
    rows += row(fmt::format("class {} predicted as class {}", pair.truth, pair.taken_for),
                fmt::format("{} of {} · {}", count_text(pair.count), count_text(pair.of),
                            percent_text(double(pair.count) / double(pair.of))));
  }
  return table(rows);
}

std::string traffic_table(const RunRecord& run) {
  const auto ranks = std::size_t(run.setting.ranks);
  const std::vector<std::string>& hosts = run.setting.hosts;
  std::int64_t within = 0, between = 0;
  std::size_t busiest = 0;
  for (std::size_t pair = 0; pair < run.bytes_by_pair.size(); ++pair) {
    const bool inter = !hosts.empty() && hosts[pair / ranks] != hosts[pair % ranks];
    (inter ? between : within) += run.bytes_by_pair[pair];
    if (run.bytes_by_pair[pair] > run.bytes_by_pair[busiest]) busiest = pair;
  }
  if (within + between == 0) return "";
  const auto share = [&](std::int64_t bytes) {
    return fmt::format("{} · {}", bytes_text(double(bytes)),
                       percent_text(double(bytes) / double(within + between)));
  };
  return table(row("within servers", share(within)) + row("between servers", share(between)) +
               row(fmt::format("busiest pair: rank {} to rank {}", busiest / ranks, busiest % ranks),
                   share(run.bytes_by_pair[busiest])));
}

std::string links_table(const std::optional<LinkMetrics>& links) {
  if (!links) return "";
  std::string rows = row("ROC AUC", percent_text(links->roc_auc)) +
                     row("average precision", percent_text(links->average_precision)) +
                     row("MRR", fmt::format("{:.4f}", links->mrr));
  for (std::size_t i = 0; i < kHitsAt.size(); ++i)
    rows += row(fmt::format("hits@{}", kHitsAt[i]), percent_text(links->hits[i]));
  return table(rows);
}

// A report's tables of what explanations came to, by part.

namespace {

constexpr std::size_t kShown = 8;       // of vertices, and of columns
constexpr std::size_t kMostRanks = 64;  // that have a row

std::string named(const std::vector<ExplainedFigures::Named>& all, double middle, double least) {
  if (all.empty()) return "–";
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, all.size()); ++i)
    text += fmt::format("{}{} <small>{:.3f}</small>", i == 0 ? "" : ", ", all[i].id, all[i].mask);
  return text + fmt::format(" <small>· median {:.3f}, least {:.3f}</small>", middle, least);
}

std::string row(std::size_t rank, const ExplainedFigures& f) {
  const double each = f.explanations > 0 ? f.seconds / double(f.explanations) : 0;
  const std::string made =
      f.epochs == 0 ? "no masks applied"
                    : fmt::format("{} × {}, {} epochs, loss {:.3g} → {:.3g}", count_text(f.explanations),
                                  duration_text(each), f.epochs, f.first_loss, f.loss);
  return fmt::format(
      "<tr><td>rank {}</td><td>{} vertices: {}</td><td>{} of {} features: {}</td><td>{}</td></tr>", rank,
      count_text(f.others), named(f.vertices, f.middle_vertex, f.least_vertex), count_text(f.chosen),
      count_text(f.features), named(f.columns, f.middle_column, f.least_column), made);
}

}  // namespace

std::string explained_tables(const RunRecord& run) {
  std::string rows;
  for (std::size_t rank = 0; rank < std::min(kMostRanks, run.explained.size()); ++rank)
    rows += row(rank, run.explained[rank]);
  if (rows.empty()) return "";
  if (run.explained.size() > kMostRanks)
    rows += fmt::format("<tr><td>and {} more</td></tr>", run.explained.size() - kMostRanks);
  return "<table class=pairs><tr><th>part</th><th>of other ranks</th><th>features</th><th>explained</th></tr>" +
         rows + "</table>";
}

}  // namespace atl
