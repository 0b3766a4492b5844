// Names of metrics.
#pragma once

#include <string>

#include "job/job.h"

namespace atl {

/// As the manifest has it: "f1Micro".
std::string metric_name(Metric metric);

/// As a reader knows it: "F1 (micro)". Of a name that isn't a metric's, as a record may hold it, the name itself.
std::string metric_title(Metric metric);
std::string metric_title(const std::string& name);

}  // namespace atl
