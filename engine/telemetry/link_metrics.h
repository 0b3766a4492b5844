// How well scores tell edges from pairs that are none, as OGB and scikit-learn define it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "job/job.h"
#include "tensor/matrix.h"

namespace atl {

/// The K of Hits@K that results have, beside the job's own.
inline constexpr std::array<int, 4> kHitsAt{10, 20, 50, 100};

/// Fractions 0 … 1.
struct LinkMetrics {
  double roc_auc = 0;  // an edge's score is above a negative pair's; equal ones count half
  // Σ over thresholds of precision · growth of recall; equal scores are one threshold
  double average_precision = 0;
  // 1 / rank of an edge among all negative pairs, the mean of its best and worst rank where scores are equal
  double mrr = 0;
  // edges with a score above that of the K-th best negative pair: by kHitsAt …
  std::array<double, kHitsAt.size()> hits{};
  double hits_at = 0;  // … and by the job's K. All, where there are fewer negative pairs
  bool operator==(const LinkMetrics&) const = default;
};

/// Of the scores of edges and of negative pairs, some of each. What isn't a number is a score as wrong as
/// any.
LinkMetrics link_metrics(std::vector<Real> edges, std::vector<Real> negatives, int hits_at);

/// The one that the job reports.
double reported(const LinkSpec& spec, const LinkMetrics& metrics);
/// Its name, "hits@50", as it is printed.
std::string link_metric_name(const LinkSpec& spec);

/// "ROC AUC 93.1 %, average precision 92.8 %, MRR 0.12, hits@20 31.1 %"
std::string links_text(const LinkMetrics& metrics);

// Names of metrics.

/// As the manifest has it: "f1Micro".
std::string metric_name(Metric metric);

/// Of the metric that a job reports, whichever task it has; of link prediction "hits@50".
std::string reported_metric(const Job& job);

/// As a reader knows it: "F1 (micro)". Of a name that isn't a metric's, as a record may hold it, the name
/// itself.
std::string metric_title(const std::string& name);

}  // namespace atl
