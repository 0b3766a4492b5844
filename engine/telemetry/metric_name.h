// Names of metrics.
#pragma once

#include <string>

#include "job/job.h"

namespace atl {

/// As the manifest has it: "f1Micro".
std::string metric_name(Metric metric);

/// Of the metric that a job reports, whichever task it has; of link prediction "hits@50".
std::string reported_metric(const Job& job);

/// As a reader knows it: "F1 (micro)". Of a name that isn't a metric's, as a record may hold it, the name itself.
std::string metric_title(const std::string& name);

}  // namespace atl
