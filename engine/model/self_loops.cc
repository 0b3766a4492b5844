#include "model/self_loops.h"

#include "model/model.h"

namespace atl {

SelfLoops self_loops_of(const Job& job) {
  const SelfLoops given = job.dataset.self_loops;
  return given == SelfLoops::kModel ? graph_needs(job.model).self_loops : given;
}

}  // namespace atl
