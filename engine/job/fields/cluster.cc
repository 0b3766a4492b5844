// The rows of `output` and of the sections that only the operator reads: `runPolicy`, `launcher`, `image`,
// `template`.
#include "job/fields.h"

namespace atl {
namespace {

std::vector<Field> run_policy_fields() {
  std::vector<Field> f;
  f.push_back({.path = "runPolicy", .description = "on a cluster: restarts, time limits, clean-up"});
  f.push_back({.path = "runPolicy.suspend",
               .type = FieldType::kFlag,
               .description = "write a checkpoint, stop and wait",
               .slot = at([](Job & j) -> auto& { return j.run_policy.suspend; }),
               .may_change = true,
               .mutability = Mutability::kAlways});
  f.push_back({.path = "runPolicy.backoffLimit",
               .type = FieldType::kInteger,
               .description = "how often the job is restarted before it fails",
               .slot = at([](Job & j) -> auto& { return j.run_policy.backoff_limit; }),
               .minimum = 0,
               .maximum = 1e6,
               .may_change = true,
               .mutability = Mutability::kAlways});
  f.push_back(
      {.path = "runPolicy.maxDisruptions",
       .type = FieldType::kInteger,
       .description = "how often the job is restarted for no fault of its own before it fails; 0 = no limit",
       .slot = at([](Job & j) -> auto& { return j.run_policy.max_disruptions; }),
       .minimum = 0,
       .maximum = 1e6,
       .may_change = true,
       .mutability = Mutability::kAlways});
  f.push_back({.path = "runPolicy.activeDeadlineSeconds",
               .type = FieldType::kInteger,
               .description = "longest time to run; 0 = no limit",
               .slot = at([](Job & j) -> auto& { return j.run_policy.active_deadline_seconds; }),
               .unit = "seconds",
               .minimum = 0,
               .may_change = true,
               .mutability = Mutability::kAlways});
  f.push_back({.path = "runPolicy.ttlSecondsAfterFinished",
               .type = FieldType::kInteger,
               .description = "delete the finished job after this time; -1 = keep it",
               .slot = at([](Job & j) -> auto& { return j.run_policy.ttl_seconds_after_finished; }),
               .unit = "seconds",
               .minimum = -1,
               .may_change = true,
               .mutability = Mutability::kAlways});
  f.push_back({.path = "runPolicy.cleanPodPolicy",
               .type = FieldType::kChoice,
               .description = "which pods are deleted when the job ends",
               .slot = at([](Job & j) -> auto& { return j.run_policy.clean_pod_policy; }),
               .choices = {{"Running", "pods that still run; ended pods stay for their logs"},
                           {"All", "every pod"},
                           {"None", "no worker pod"}},
               .may_change = true});
  return f;
}

std::vector<Field> deadline_fields() {
  std::vector<Field> f;
  f.push_back({.path = "runPolicy.startDeadlineSeconds",
               .type = FieldType::kInteger,
               .description = "longest time until all ranks run",
               .slot = at([](Job & j) -> auto& { return j.run_policy.start_deadline_seconds; }),
               .unit = "seconds",
               .minimum = 1,
               .may_change = true,
               .mutability = Mutability::kAlways});
  f.push_back({.path = "runPolicy.prepareDeadlineSeconds",
               .type = FieldType::kInteger,
               .description = "longest time to check and partition the data set, once its pod runs",
               .slot = at([](Job & j) -> auto& { return j.run_policy.prepare_deadline_seconds; }),
               .unit = "seconds",
               .minimum = 1,
               .may_change = true,
               .mutability = Mutability::kAlways});
  f.push_back({.path = "runPolicy.progressDeadlineSeconds",
               .type = FieldType::kInteger,
               .description = "longest time without a finished epoch, or step of mini-batches",
               .slot = at([](Job & j) -> auto& { return j.run_policy.progress_deadline_seconds; }),
               .unit = "seconds",
               .minimum = 1,
               .may_change = true,
               .mutability = Mutability::kAlways});
  return f;
}

}  // namespace

std::vector<Field> cluster_fields() {
  std::vector<Field> f;
  f.push_back({.path = "output",
               .description = "where results go: checkpoints, model.safetensors, predictions.npy, "
                              "report.html, metrics.jsonl"});
  f.push_back({.path = "output.volume",
               .type = FieldType::kFree,
               .description = "on a cluster: pod volume source for the output folder",
               .slot = at([](Job & j) -> auto& { return j.output.volume; }),
               .may_change = true});
  f.push_back({.path = "output.path",
               .type = FieldType::kText,
               .description = "folder for this job's results: inside output.volume on a cluster, inside "
                              "./runs locally",
               .slot = at([](Job & j) -> auto& { return j.output.path; }),
               .default_text = "metadata.name",
               .may_change = true});
  for (auto& field : run_policy_fields()) f.push_back(std::move(field));
  for (auto& field : deadline_fields()) f.push_back(std::move(field));
  f.push_back({.path = "launcher",
               .type = FieldType::kChoice,
               .description = "on a cluster: what starts the ranks",
               .slot = at([](Job & j) -> auto& { return j.launcher; }),
               .choices = {{"atoll", "Atoll's own launcher pod"},
                           {"mpijob", "a Kubeflow MPIJob with the same placement"}},
               .may_change = true});
  f.push_back({.path = "image",
               .type = FieldType::kText,
               .description = "on a cluster: the engine's image",
               .slot = at([](Job & j) -> auto& { return j.image; }),
               .default_text = "the chart's",
               .may_change = true});
  f.push_back({.path = "template",
               .type = FieldType::kFree,
               .description = "on a cluster: a partial pod template, merged over the generated one",
               .slot = at([](Job & j) -> auto& { return j.template_; }),
               .may_change = true,
               .mutability = Mutability::kWhileSuspended});
  return f;
}

}  // namespace atl
