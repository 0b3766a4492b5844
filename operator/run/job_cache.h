// Jobs in memory, and how much of them: any user may make thousands, with large specs, and none of them may
// end the operator by that. Of a job of another class the metadata alone is kept. A new job whose spec would
// be more than its namespace may have is refused, as one is whose own spec is too large (api/gnnjob.h).
#pragma once

#include <string>

#include "operator/run/caches.h"

namespace atl::ctl {

/// `news`: who is told of changes; what it refers to must outlive the cache.
kube::Cache<GnnJob> job_cache(const News& news, const std::string& operator_class);

}  // namespace atl::ctl
