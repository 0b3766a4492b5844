#include "train/run_state.h"

#include "base/sha256.h"
#include "job/write.h"

namespace atl {
namespace {

/// Copies what named_parameters() names back from the file.
void read_parameters(const SafetensorsFile& file, const Parameters& parameters, Real* values,
                     const std::string& prefix, bool trainable_only) {
  for (const Parameters::Entry& e : parameters.entries()) {
    if (trainable_only && !e.spec.trainable) continue;
    file.copy_to(prefix + e.spec.name, {e.spec.rows, e.spec.cols}, values + e.offset);
  }
}

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

std::vector<TensorView> named_parameters(const Parameters& parameters, const Real* values,
                                         const std::string& prefix, bool trainable_only) {
  std::vector<TensorView> tensors;
  for (const Parameters::Entry& e : parameters.entries()) {
    if (trainable_only && !e.spec.trainable) continue;
    tensors.push_back(tensor_view(prefix + e.spec.name, {e.spec.rows, e.spec.cols}, values + e.offset));
  }
  return tensors;
}

CheckpointState state_of(Trainer& trainer, Best& best, const Job& job, const DatasetMeta& dataset, int ranks,
                         Index epoch) {
  CheckpointState state;
  state.epoch = epoch;
  state.step = trainer.optimizer().steps();
  state.seed = job.training.seed;
  state.ranks = ranks;
  state.identity = identity_of(job, dataset);
  best.save(state.scalars);
  Parameters& parameters = trainer.parameters();
  auto add = [&](const Real* values, const std::string& prefix, bool trainable_only) {
    for (TensorView& t : named_parameters(parameters, values, prefix, trainable_only))
      state.tensors.push_back(std::move(t));
  };
  add(parameters.values().data(), "", false);
  for (std::size_t i = 0; i < trainer.optimizer().moments().size(); ++i) {
    add(trainer.optimizer().moments()[i].data(), moment_prefix(i), true);
  }
  if (best.epoch() > 0) add(best.weights().data(), "best.", false);
  return state;
}

void load_state(const LoadedCheckpoint& checkpoint, const Job& job, const DatasetMeta& dataset,
                Trainer& trainer, Best& best) {
  check_identity(checkpoint, identity_of(job, dataset));
  Parameters& parameters = trainer.parameters();
  read_parameters(checkpoint.file, parameters, parameters.values().data(), "", false);
  for (std::size_t i = 0; i < trainer.optimizer().moments().size(); ++i) {
    read_parameters(checkpoint.file, parameters, trainer.optimizer().moments()[i].data(), moment_prefix(i),
                    true);
  }
  trainer.optimizer().set_steps(checkpoint.state.step);
  best.load(checkpoint.state.scalars);
  if (best.epoch() > 0) {
    best.weights().resize(1, Index(parameters.values().size()));
    read_parameters(checkpoint.file, parameters, best.weights().data(), "best.", false);
  }
}

}  // namespace atl
