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
  bool has_chosen_pod_size = false;  // manifest and job have Status::pod_size, which the spec leaves open
  std::string priority_class;
  Admitted admitted;  // what its queue adds to its pods, beside its template
  Status status;

  std::string full_name() const { return meta.space + "/" + meta.name; }
  std::string operator_class() const {
    const std::string label = meta.label(kClassLabel);
    return label.empty() ? kDefaultClass : label;
  }
};

/// `object`: the API's JSON. Throws Error where it isn't a GNNJob. All jobs are kept in memory: of one that
/// has ended nothing stays of which only pods are made.
GnnJob read_gnn_job(const std::string& object);

/// One line for each field that `job` leaves out, where all of them are in maps with a short form: the API
/// server keeps whatever such a map has, so these are misspelt rather than of a later resource. Else "".
std::string misspelt_fields(const GnnJob& job);

/// Refuses the job in these words, and keeps nothing of its spec.
void refuse(GnnJob& job, const std::string& why);

/// Gives a job that was read without its status this one. Its pods then have the size that was chosen for
/// them, unless the spec has changed so that it can't have that; and its objects are made of what was
/// recorded.
void enter_status(GnnJob& job, Status status);

/// Makes it a job with so many ranks in each pod, as if its spec said so; 0: as if its spec left that open.
/// Throws Error where the engine refuses such a job, and changes nothing then.
void set_pod_size(GnnJob& job, int ranks);

}  // namespace atl::ctl
