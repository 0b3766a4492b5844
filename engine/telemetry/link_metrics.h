// How well scores tell edges from negative pairs, by the definitions of OGB and scikit-learn.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/members.h"
#include "job/job.h"
#include "tensor/matrix.h"

namespace atl {

/// The values of K for which results hold Hits@K, beside the job's own K.
inline constexpr std::array<int, 4> kHitsAt{10, 20, 50, 100};

/// Metrics of scored pairs. All are fractions 0 … 1.
struct LinkMetrics {
  // Probability that an edge scores above a negative pair; equal scores count half.
  double roc_auc = 0;
  // Σ over thresholds of precision · growth of recall; equal scores are one threshold
  double average_precision = 0;
  // Mean of 1 / rank of an edge among all negative pairs. Among equal scores, an edge has the mean of its
  // best and its worst rank.
  double mrr = 0;
  // Share of the edges that score above the K-th best negative pair, for each K of kHitsAt.
  std::array<double, kHitsAt.size()> hits{};
  // The share for the job's own K. It is 1 where there are fewer negative pairs than K.
  double hits_at = 0;
  bool operator==(const LinkMetrics&) const = default;

  static constexpr auto members() {
    return std::tuple{Key{"rocAuc", &LinkMetrics::roc_auc},
                      Key{"averagePrecision", &LinkMetrics::average_precision}, Key{"mrr", &LinkMetrics::mrr},
                      Key{"hits", &LinkMetrics::hits}, Key{"hitsAt", &LinkMetrics::hits_at}};
  }
};

/// Computes the metrics from the scores of at least one edge and one negative pair. A score that is NaN
/// counts as the worst possible.
LinkMetrics link_metrics(std::vector<Real> edges, std::vector<Real> negatives, int hits_at);

/// The value of the metric that the job reports.
double reported(const LinkSpec& spec, const LinkMetrics& metrics);
/// The name of the metric that the job reports, as it is printed: "hits@50".
std::string link_metric_name(const LinkSpec& spec);

/// The metrics in words: "ROC AUC 93.1 %, average precision 92.8 %, MRR 0.12, hits@20 31.1 %".
std::string links_text(const LinkMetrics& metrics);

// Names of metrics.

/// The metric's name in the manifest: "f1Micro".
std::string metric_name(Metric metric);

/// The name of the metric that the job reports, whatever its task; "hits@50" for link prediction.
std::string reported_metric(const Job& job);

/// The metric's name in tables: "F1 (micro)". A record may hold a name that no metric has, which is returned
/// as it is.
std::string metric_title(const std::string& name);

}  // namespace atl
