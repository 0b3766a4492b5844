// A GNNJob as read from the API: Kubernetes' part of it, the job as the engine understands it, and its status.
#pragma once

#include <optional>
#include <string>

#include "job/job.h"
#include "operator/api/meta.h"
#include "operator/api/status.h"
#include "operator/api/workload.h"

namespace atl::ctl {

struct GnnJob {
  Meta meta;
  std::string manifest;    // what the engine reads: apiVersion, kind, name, namespace and spec, as JSON
  std::optional<Job> job;  // nothing where the engine refuses it
  std::string refusal;     // then: its words, one line for each fault
  std::string digest;      // the same for manifests that train alike: runPolicy doesn't count. 10 hex digits
  std::string
      prepare_digest;  // the same for those whose data set, parts and traffic between ranks are the same, too
  std::string priority_class;
  Admitted admitted;  // what its queue asks of its pods beside its template
  Status status;

  std::string full_name() const { return meta.space + "/" + meta.name; }
};

/// `object`: the API's JSON. Throws Error where it is none.
GnnJob read_gnn_job(const std::string& object);

}  // namespace atl::ctl
