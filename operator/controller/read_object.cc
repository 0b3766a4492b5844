#include "operator/controller/read_object.h"

#include <nlohmann/json.hpp>

#include "operator/objects/mpi_job.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {

ObjectView read_object(Kind kind, const nlohmann::json& object) {
  ObjectView view{kind, read_meta(object)};
  if (kind == Kind::kConfigMap)
    if (auto prepared = read_prepared(text_of(member(object, "data"), "prepared.json")))
      view.prepared = std::make_shared<const Prepared>(std::move(*prepared));
  if (kind == Kind::kMpiJob) view.failure = mpi_job_failure(object);
  if (kind == Kind::kWorkload) view.workload = read_workload(object);
  return view;
}

}  // namespace atl::ctl
