// The final figures of a report as HTML tables, which need no script. They say in a few words what the
// pictures show.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "telemetry/link_metrics.h"
#include "telemetry/report/report.h"

namespace atl {
namespace {

constexpr std::size_t kMostRows = 64;
constexpr std::size_t kNamed = 8;  // an explanation's vertices, and columns, that are named

using Cells = std::vector<std::string>;  // HTML

std::string row_of(const Cells& cells, const char* tag) {
  std::string html = "<tr>";
  for (const std::string& cell : cells) html += fmt::format("<{0}>{1}</{0}>", tag, cell);
  return html + "</tr>";
}

/// A table; "" without rows. It shows only the first kMostRows rows.
std::string table(const Cells& head, const std::vector<Cells>& rows, const char* kind = "numbers") {
  if (rows.empty()) return "";
  std::string html = head.empty() ? "" : row_of(head, "th");
  for (std::size_t r = 0; r < std::min(kMostRows, rows.size()); ++r) html += row_of(rows[r], "td");
  if (rows.size() > kMostRows) html += row_of({fmt::format("and {} more", rows.size() - kMostRows)}, "td");
  return fmt::format("<div class=scroll><table class={}>{}</table></div>", kind, html);
}

std::string share_text(double part, double all) {
  return percent_text(all > 0 ? part / all : 0);
}

std::string percent(const std::optional<double>& value) {
  return value ? percent_text(*value) : "–";
}

std::string loss_text(double loss) {
  return std::isfinite(loss) ? fmt::format("{:.4g}", loss) : "–";
}

std::string named(const std::vector<ExplainedFigures::Named>& all, const ExplainedFigures::Spread& masks) {
  if (all.empty()) return "–";
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, all.size()); ++i)
    text += fmt::format("{}{} <small>{:.3f}</small>", i == 0 ? "" : ", ", all[i].id, all[i].mask);
  return text + fmt::format(" <small>· median {:.3f}, least {:.3f}</small>", masks.middle, masks.least);
}

}  // namespace

std::string html_escape(std::string_view text) {
  static const std::map<char, const char*> kEntities{
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string html;
  for (const char c : text) {
    const auto entity = kEntities.find(c);
    const bool is_control = (c >= 0 && c < ' ' && c != '\n' && c != '\t' && c != '\r') || c == 127;
    html += entity != kEntities.end() ? entity->second : is_control ? "\uFFFD" : std::string(1, c);
  }
  return html;
}

std::string epochs_table(const RunRecord& run) {
  std::vector<Cells> rows;
  const auto add = [&](const char* which, const EpochRecord& e) {
    rows.push_back({fmt::format("{}: {}", which, count_text(e.epoch)), loss_text(e.loss),
                    e.validation_loss ? loss_text(*e.validation_loss) : "–", percent(e.train),
                    percent(e.validation), percent(e.test), duration_text(e.epoch_seconds)});
  };
  if (run.epochs.empty()) return "";
  add("first", run.epochs.front());
  const auto best = std::ranges::find(run.epochs, run.best_epoch, &EpochRecord::epoch);
  if (best != run.epochs.end()) add("best", *best);
  add("last", run.epochs.back());
  const std::string metric = html_escape(metric_title(run.setting.metric));
  return table({"epoch", "training loss", "validation loss", "training " + metric, "validation " + metric,
                "test " + metric, "time"},
               rows);
}

std::string phases_table(const RunRecord& run) {
  if (run.phases_by_rank.empty()) return "";
  double all = 0;
  for (const auto& phases : run.phases_by_rank)
    for (const Phase& phase : phases) all += phase.seconds;
  std::vector<Cells> rows;
  for (const Phase& phase : run.phases_by_rank[0]) {
    std::vector<double> seconds;
    for (const auto& phases : run.phases_by_rank) seconds.push_back(seconds_of_phase(phases, phase.name));
    const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    const auto most = std::ranges::max_element(seconds);
    rows.push_back({html_escape(phase.name), share_text(sum, all),
                    duration_text(sum / double(seconds.size())),
                    fmt::format("{} · rank {}", duration_text(*most), most - seconds.begin())});
  }
  return table({"phase", "of all ranks’ time", "mean of ranks", "most"}, rows);
}

std::string memory_table(const RunRecord& run) {
  std::vector<std::string> hosts;          // in order of their first rank
  std::vector<std::vector<double>> bytes;  // (hosts, ranks of each)
  for (std::size_t rank = 0; rank < std::min(run.peak_memory_bytes.size(), run.setting.hosts.size());
       ++rank) {
    const auto host = std::size_t(std::ranges::find(hosts, run.setting.hosts[rank]) - hosts.begin());
    if (host == hosts.size()) hosts.push_back(run.setting.hosts[rank]), bytes.emplace_back();
    bytes[host].push_back(double(run.peak_memory_bytes[rank]));
  }
  std::vector<Cells> rows;
  for (const std::vector<double>& of : bytes)
    rows.push_back({fmt::format("server {}: {}", rows.size(), html_escape(hosts[rows.size()])),
                    count_text(std::ssize(of)), bytes_text(std::accumulate(of.begin(), of.end(), 0.0)),
                    bytes_text(*std::ranges::max_element(of))});
  return table({"server", "ranks", "together", "largest rank"}, rows);
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
  const auto row = [&](const std::string& what, std::int64_t bytes) {
    return Cells{what, bytes_text(double(bytes)), share_text(double(bytes), double(within + between))};
  };
  return table({}, {row("within servers", within), row("between servers", between),
                    row(fmt::format("busiest pair: rank {} to rank {}", busiest / ranks, busiest % ranks),
                        run.bytes_by_pair[busiest])});
}

std::string purposes_table(const RunRecord& run) {
  std::vector<LinkTraffic> sent = run.training_traffic;
  std::erase_if(sent, [](const LinkTraffic& t) { return t.bytes == 0; });
  std::ranges::stable_sort(sent, std::greater{}, &LinkTraffic::bytes);
  double all = 0;
  for (const LinkTraffic& t : sent) all += double(t.bytes);
  std::vector<Cells> rows;
  for (const LinkTraffic& t : sent)
    rows.push_back({html_escape(t.purpose), html_escape(t.link), bytes_text(double(t.bytes)),
                    share_text(double(t.bytes), all)});
  return table({"purpose", "link", "bytes", "of all"}, rows);
}

std::string confusion_table(const RunRecord& run) {
  const ConfusionMatrix& confusion = run.confusion;
  const int n = confusion.classes;
  std::vector<std::tuple<std::int64_t, int, int>> pairs;  // (−count, true class, predicted class)
  std::vector<std::int64_t> of(std::size_t(std::max(n, 0)));
  for (int t = 0; t < n; ++t) {
    for (int p = 0; p < n; ++p) {
      const std::int64_t count = confusion.counts[std::size_t(t) * std::size_t(n) + std::size_t(p)];
      of[std::size_t(t)] += count;
      if (p != t && count > 0) pairs.emplace_back(-count, t, p);
    }
  }
  const auto shown = pairs.begin() + std::min<std::ptrdiff_t>(5, std::ssize(pairs));
  std::partial_sort(pairs.begin(), shown, pairs.end());
  std::vector<Cells> rows;
  for (auto pair = pairs.begin(); pair != shown; ++pair) {
    const auto [count, truth, predicted] = *pair;
    const std::int64_t all = of[std::size_t(truth)];
    rows.push_back({fmt::format("class {} predicted as class {}", truth, predicted),
                    fmt::format("{} of {}", count_text(-count), count_text(all)),
                    share_text(double(-count), double(all))});
  }
  if (n > 0 && rows.empty()) return "<div>no mistakes</div>";
  return table({}, rows);
}

std::string links_table(const RunRecord& run) {
  if (!run.links) return "";
  std::vector<Cells> rows{{"ROC AUC", percent_text(run.links->roc_auc)},
                          {"average precision", percent_text(run.links->average_precision)},
                          {"MRR", fmt::format("{:.4f}", run.links->mrr)}};
  for (std::size_t i = 0; i < kHitsAt.size(); ++i)
    rows.push_back({fmt::format("hits@{}", kHitsAt[i]), percent_text(run.links->hits[i])});
  return table({}, rows);
}

std::string explained_table(const RunRecord& run) {
  std::vector<Cells> rows;
  for (const ExplainedFigures& f : run.explained) {
    const double each = f.explanations > 0 ? f.seconds / double(f.explanations) : 0;
    const std::string made =
        f.epochs == 0 ? "no masks applied"
                      : fmt::format("{} × {}, {} epochs, loss {:.3g} → {:.3g}", count_text(f.explanations),
                                    duration_text(each), f.epochs, f.loss.first, f.loss.last);
    rows.push_back({fmt::format("rank {}", rows.size()),
                    fmt::format("{} vertices: {}", count_text(f.others), named(f.vertices, f.vertex_masks)),
                    fmt::format("{} of {} features: {}", count_text(f.chosen), count_text(f.features),
                                named(f.columns, f.column_masks)),
                    made});
  }
  return table({"part", "of other ranks", "features", "explained"}, rows, "words");
}

}  // namespace atl
