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

/// The label that names the class of operator that handles a job, if a cluster has several; and the class of
/// jobs without the label.
inline constexpr const char *kClassLabel = "atoll.dev/operator-class", *kDefaultClass = "atoll";

struct GnnJob {
  Meta meta;
  std::string manifest;              // for the engine: apiVersion, kind, name, namespace and spec, as JSON
  std::optional<Job> job;            // nothing if the engine refuses the manifest
  std::string refusal;               // why the engine refuses it, one line per fault
  std::vector<std::string> unknown;  // fields that the engine doesn't know; not in `manifest`
  MadeOf made_of;  // as recorded at the job's beginning, if the spec still asks for the same
  bool has_chosen_pod_size = false;  // the spec left the pod size open: it is Status::pod_size
  std::string priority_class;
  Admitted admitted;  // what its queue adds to its pods, besides its template
  Status status;

  std::string full_name() const { return meta.space + "/" + meta.name; }
  std::string operator_class() const {
    const std::string label = meta.label(kClassLabel);
    return label.empty() ? kDefaultClass : label;
  }
};

/// Reads a job from the API's JSON. Throws Error if it isn't a GNNJob. All jobs are kept in memory, so a job
/// that has ended keeps nothing that only pods are made of.
GnnJob read_gnn_job(const std::string& object);

/// One line for each unknown field, if all of them are in maps with a short form; otherwise "". The API
/// server keeps whatever such a map has. So these fields are misspelt, and don't come from a later release's
/// resource.
std::string misspelt_fields(const GnnJob& job);

/// Makes the job one that is refused for this reason, and drops its spec.
void refuse(GnnJob& job, const std::string& why);

/// Gives this status to a job that was read without its status. Its pods then have the size that was chosen
/// for them, unless the spec has changed so that they can't. Its objects are made of what was recorded.
void enter_status(GnnJob& job, Status status);

/// Gives the job `ranks` ranks in each pod, as if its spec said so; 0: as if its spec left the number open.
/// Throws Error, and changes nothing, if the engine refuses such a job.
void set_pod_size(GnnJob& job, int ranks);

}  // namespace atl::ctl
