#include "telemetry/link_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace atl {
namespace {

void replace_nan(std::vector<Real>& scores, Real by) {
  for (Real& score : scores)
    if (std::isnan(score)) score = by;
}

/// The number of negative scores below a score, and the number above it.
struct Sides {
  double below, above;
};
Sides sides_of(const std::vector<Real>& ascending, Real score) {
  const auto [first, last] = std::equal_range(ascending.begin(), ascending.end(), score);
  return {double(first - ascending.begin()), double(ascending.end() - last)};
}

/// The average precision. `edges` and `negatives` are in ascending order.
double average_precision(const std::vector<Real>& edges, const std::vector<Real>& negatives) {
  double sum = 0;
  for (auto end = edges.end(); end != edges.begin();) {
    const auto begin = std::lower_bound(edges.begin(), end, *(end - 1));  // first edge with the same score
    const auto found = double(edges.end() - begin);
    const auto wrong = double(negatives.end() - std::ranges::lower_bound(negatives, *begin));
    sum += double(end - begin) * (found / (found + wrong));
    end = begin;
  }
  return sum / double(edges.size());
}

double hits(const std::vector<Real>& edges, const std::vector<Real>& negatives, int k) {
  if (std::size_t(k) > negatives.size()) return 1;
  const Real bar = negatives[negatives.size() - std::size_t(k)];
  return double(edges.end() - std::ranges::upper_bound(edges, bar)) / double(edges.size());
}

}  // namespace

LinkMetrics link_metrics(std::vector<Real> edges, std::vector<Real> negatives, int hits_at) {
  ATOLL_CHECK(!edges.empty() && !negatives.empty(), "{} edges, {} negative pairs", edges.size(),
              negatives.size());
  constexpr Real kMost = std::numeric_limits<Real>::infinity();
  replace_nan(edges, -kMost), replace_nan(negatives, kMost);
  std::ranges::sort(edges), std::ranges::sort(negatives);
  const auto all = double(negatives.size());
  LinkMetrics metrics;
  for (const Real score : edges) {
    const auto [below, above] = sides_of(negatives, score);
    metrics.roc_auc += (below + (all - below - above) / 2) / all;
    metrics.mrr += 2 / ((above + 1) + (all - below + 1));
  }
  metrics.roc_auc /= double(edges.size()), metrics.mrr /= double(edges.size());
  metrics.average_precision = average_precision(edges, negatives);
  for (std::size_t i = 0; i < kHitsAt.size(); ++i) metrics.hits[i] = hits(edges, negatives, kHitsAt[i]);
  metrics.hits_at = hits(edges, negatives, hits_at);
  return metrics;
}

double reported(const LinkSpec& spec, const LinkMetrics& metrics) {
  switch (spec.metric) {
    case LinkMetric::kRocAuc:
      return metrics.roc_auc;
    case LinkMetric::kAveragePrecision:
      return metrics.average_precision;
    case LinkMetric::kMrr:
      return metrics.mrr;
    case LinkMetric::kHits:
      break;
  }
  return metrics.hits_at;
}

std::string link_metric_name(const LinkSpec& spec) {
  switch (spec.metric) {
    case LinkMetric::kRocAuc:
      return "rocAuc";
    case LinkMetric::kAveragePrecision:
      return "averagePrecision";
    case LinkMetric::kMrr:
      return "mrr";
    case LinkMetric::kHits:
      break;
  }
  return fmt::format("hits@{}", spec.hits_at);
}

std::string links_text(const LinkMetrics& metrics) {
  std::string text =
      fmt::format("ROC AUC {}, average precision {}, MRR {:.3f}", percent_text(metrics.roc_auc),
                  percent_text(metrics.average_precision), metrics.mrr);
  for (std::size_t i = 0; i < kHitsAt.size(); ++i)
    text += fmt::format(", hits@{} {}", kHitsAt[i], percent_text(metrics.hits[i]));
  return text;
}

namespace {

struct Names {
  const char *name, *title;
};

constexpr Names kNames[] = {{"accuracy", "accuracy"},  // in the order of Metric
                            {"f1Micro", "F1 (micro)"},
                            {"f1Macro", "F1 (macro)"},
                            {"rocAuc", "ROC AUC"}};

}  // namespace

std::string metric_name(Metric metric) {
  return kNames[int(metric)].name;
}

std::string reported_metric(const Job& job) {
  return job.task == Task::kLinkPrediction ? link_metric_name(job.links) : metric_name(job.training.metric);
}

std::string metric_title(const std::string& name) {
  for (const Names& each : kNames)
    if (name == each.name) return each.title;
  if (name == "averagePrecision") return "average precision";
  if (name == "mrr") return "MRR";
  return name.empty() ? "metric" : name;
}

}  // namespace atl
