// A GNNJob as read from the API: its metadata, the job as the engine understands it, and its status.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job/job.h"
#include "operator/api/json_values.h"
#include "operator/api/status.h"
#include "operator/api/workload.h"

namespace atl::ctl {

/// The label that names the operator of a job, where a cluster has several; and the class of jobs without the
/// label.
inline constexpr const char *kClassLabel = "atoll.dev/operator-class", *kDefaultClass = "atoll";

struct GnnJob {
  Meta meta;
  std::string manifest;              // for the engine: apiVersion, kind, name, namespace and spec, as JSON
  std::optional<Job> job;            // nothing where the engine refuses it
  std::string refusal;               // then the engine's words, one line per fault
  std::vector<std::string> unknown;  // fields that the engine doesn't know; the manifest leaves them out
  MadeOf made_of;  // as recorded at the job's beginning, while the spec still asks for the same
  std::string priority_class;
  Admitted admitted;  // what its queue adds to its pods, beside its template
  Status status;

  std::string full_name() const { return meta.space + "/" + meta.name; }
  std::string operator_class() const {
    const std::string label = meta.label(kClassLabel);
    return label.empty() ? kDefaultClass : label;
  }
};

/// `object`: the API's JSON. Throws Error where it isn't a GNNJob.
GnnJob read_gnn_job(const std::string& object);

/// What a job's objects are made of: the status' record, while the spec still asks for the same. A new
/// release, or another API server, may read an unchanged spec differently. `read`: what the spec asks for
/// now.
MadeOf recalled(const MadeOf& read, const GnnJob& job);

}  // namespace atl::ctl
