#include "telemetry/metric_name.h"

#include "telemetry/link_metrics.h"

namespace atl {
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
