// A GNNJob as read from the API: Kubernetes' part of it, the job as the engine understands it, and its
// status.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job/job.h"
#include "operator/api/json_values.h"
#include "operator/api/status.h"
#include "operator/api/workload.h"

namespace atl::ctl {

/// A job's label that says which operator sees to it, where a cluster has several, and the class of jobs
/// without it.
inline constexpr const char *kClassLabel = "atoll.dev/operator-class", *kDefaultClass = "atoll";

struct GnnJob {
  Meta meta;
  std::string manifest;    // what the engine reads: apiVersion, kind, name, namespace and spec, as JSON
  std::optional<Job> job;  // nothing where the engine refuses it
  std::string refusal;     // then: its words, one line for each fault
  std::vector<std::string> unknown;  // fields that the engine doesn't know, which the manifest leaves out
  MadeOf made_of;                    // as recorded when it was taken, for as long as it asks for the same
  std::string priority_class;
  Admitted admitted;  // what its queue asks of its pods beside its template
  Status status;

  std::string full_name() const { return meta.space + "/" + meta.name; }
  std::string operator_class() const {
    const std::string label = meta.label(kClassLabel);
    return label.empty() ? kDefaultClass : label;
  }
};

/// `object`: the API's JSON. Throws Error where it is none.
GnnJob read_gnn_job(const std::string& object);

/// What a job's objects are made of. It is what the status records, as far as the spec still asks for the
/// same: a new release, or another API server, may read an unchanged spec otherwise. `read`: what the spec
/// asks for now.
MadeOf recalled(const MadeOf& read, const GnnJob& job);

}  // namespace atl::ctl
