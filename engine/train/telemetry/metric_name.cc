#include "train/telemetry/metric_name.h"

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

std::string metric_title(Metric metric) {
  return kNames[int(metric)].title;
}

std::string metric_title(const std::string& name) {
  for (const Names& each : kNames)
    if (name == each.name) return each.title;
  return name.empty() ? "metric" : name;
}

}  // namespace atl
