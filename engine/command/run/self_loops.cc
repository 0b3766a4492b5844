#include "command/run/self_loops.h"

#include <fmt/format.h>

#include "base/readable.h"
#include "model/self_loops.h"
#include "train/checkpoint/checkpoint.h"

namespace atl {

void go_on_with_self_loops(const std::filesystem::path& output, LoadedJob& loaded) {
  Job& job = loaded.job;
  if (loaded.given.contains("dataset.selfLoops") || !has_checkpoint(output) ||
      !std::filesystem::exists(output / "job.yaml"))
    return;
  const Job until_now = load_job(output / "job.yaml").job;
  if (until_now.model.kind == job.model.kind && until_now.dataset.self_loops == SelfLoops::kModel)
    job.dataset.self_loops = SelfLoops::kModel;
}

std::string self_loops_line(const DatasetMeta& meta, const Job& job) {
  if (meta.self_loops == 0) return {};
  const std::string loops = counted_text(meta.self_loops, "self-loop"), &kind = job.model.kind;
  const char* const are = meta.self_loops == 1 ? "is" : "are";
  switch (self_loops_of(job)) {
    case SelfLoops::kAdd:
      return fmt::format(
          "{}: {} reads each vertex itself once, with or without a self-loop (the data have {})", meta.name,
          kind, loops);
    case SelfLoops::kRemove:
      return fmt::format(
          "{}: {} {} left out: {}", meta.name, loops, are,
          job.dataset.self_loops == SelfLoops::kRemove
              ? "dataset.selfLoops is remove"
              : "this run began before " + kind + " kept them (--fresh starts over with them)");
    default:
      return fmt::format(
          "{}: {} {} kept: a vertex that has one is among its own neighbours (dataset.selfLoops: remove leaves "
          "them out)",
          meta.name, loops, are);
  }
}

}  // namespace atl
