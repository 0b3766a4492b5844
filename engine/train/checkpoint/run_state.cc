#include "train/checkpoint/run_state.h"

#include "base/sha256.h"
#include "job/write.h"

namespace atl {
namespace {

std::string moment_prefix(std::size_t i) {
  return fmt::format("optimizer.moment{}.", i + 1);
}

}  // namespace

Identity identity_of(const Job& job, const DatasetMeta& dataset) {
  return {{"dataset", dataset.checksum},
          {"model",
           fmt::format("{} of {} layers, hidden {}", job.model.kind, job.model.layers, job.model.hidden)},
          {"seed", std::to_string(job.training.seed)},
          {"split", fmt::format("{}[{}]", job.dataset.split, job.dataset.split_column)},
          {"strategy", job.strategy.kind},
          {"manifest", resume_key(job)}};
}

CheckpointState state_of(const RunState& run, const Job& job, const DatasetMeta& dataset, int ranks,
                         const Reached& reached, WholeTensors& tensors) {
  CheckpointState state;
  state.reached = reached;
  state.step = run.optimizer.steps();
  state.seed = job.training.seed;
  state.ranks = ranks;
  state.identity = identity_of(job, dataset);
  run.best.save(state.scalars);
  if (reached.steps > 0) run.epoch.save(state.scalars);
  tensors.add(HostArray(run.parameters.device(), run.parameters.values()), "", false);
  std::vector<Matrix>& moments = run.optimizer.moments();
  for (std::size_t i = 0; i < moments.size(); ++i) tensors.add(HostArray(moments[i]), moment_prefix(i), true);
  if (run.best.epoch() > 0) tensors.add(run.best.weights().data(), "best.", false);
  state.tensors = tensors.tensors();
  return state;
}

void load_state(const LoadedCheckpoint& checkpoint, const Job& job, const DatasetMeta& dataset,
                const RunState& run) {
  check_identity(checkpoint, identity_of(job, dataset));
  const auto read = [&](HostArray values, const std::string& prefix, bool trainable_only) {
    read_held_rows(checkpoint.file, run.parameters, values.data(), prefix, trainable_only);
    values.put();
  };
  read(HostArray(run.parameters.device(), run.parameters.values()), "", false);
  std::vector<Matrix>& moments = run.optimizer.moments();
  for (std::size_t i = 0; i < moments.size(); ++i) read(HostArray(moments[i]), moment_prefix(i), true);
  run.optimizer.set_steps(checkpoint.state.step);
  run.best.load(checkpoint.state.scalars);
  run.epoch.load(checkpoint.state.scalars);
  if (run.best.epoch() > 0) {
    run.best.weights().resize(1, Index(run.parameters.values().size()));
    read(HostArray(run.best.weights()), "best.", false);
  }
}

}  // namespace atl
