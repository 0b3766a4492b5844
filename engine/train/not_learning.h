// Warns early of a run that doesn't learn, while its user still watches it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "job/job.h"
#include "model/model.h"
#include "telemetry/record.h"
#include "train/rank_data.h"

namespace atl {

/// The loss of a model that ignores its input and always predicts how often each label occurs in training:
/// the entropy of the labels, summed where a vertex has several. 0: there is nothing to learn. Collective.
double loss_without_input(Communicator& comm, const Job& job, const RankData& data);

/// The epoch by whose end the loss must have fallen: a tenth of the run's `epochs`, but at least 5. The loss
/// is checked again whenever the number of epochs has doubled, and at the end.
Index epochs_to_learn(Index epochs);

/// The warning after the last of `epochs` (all of the run's so far), with the two likeliest remedies for the
/// manifest. It is given where no loss was at least 1 % below the first one, where the losses of the later
/// half are all at least `without_input` and don't fall, or where a whole run never got below
/// `without_input`. "" otherwise, in epochs that aren't checked, and after it has been given once.
/// without_input: loss_without_input().
std::string not_learning(const Job& job, std::span<const EpochRecord> epochs, double without_input);

// What a user is told where a loss or a gradient isn't finite: where that was first seen, and what to do.

/// Where one rank first saw a value that isn't finite; members are in the order of an epoch; −1: nowhere.
struct NonFinite {
  std::int32_t layer = -1;  // the first layer with such an output
  // the last of Parameters::entries() with such a value in this rank's own gradient; backward comes to it
  // first
  std::int32_t share = -1;
  std::int32_t sum = -1;    // the same in the gradient summed over ranks
  std::int32_t stage = -1;  // the rank's, where ranks have different layers
};

/// When a value that isn't finite was met.
struct NonFiniteTime {
  std::string text;         // "epoch 3, step 5"
  Reached last_checkpoint;  // {0, 0}: there is none
  bool untrained = false;   // no step was taken before
};

/// Throws Error on rank 0, naming layer, rank and the last good checkpoint. Where nothing was learnt yet, an
/// output that isn't finite is the features' fault, and not the learning rate's. The other ranks wait until
/// this error ends them, so that it is reported once. Collective.
[[noreturn]] void fail_non_finite(Communicator& comm, const Model& model, const Parameters& parameters,
                                  const NonFinite& mine, const NonFiniteTime& when);

}  // namespace atl
