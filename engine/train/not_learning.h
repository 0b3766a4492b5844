// A run that doesn't learn says so early, while its user still looks at it.
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

/// The loss of whoever says of every vertex, or pair, how often each label occurs in training: the entropy of
/// the labels, summed where a vertex has several. A model that reads nothing of its input comes to that. 0:
/// nothing can be learned. Collective.
double loss_without_input(Communicator& comm, const Job& job, const RankData& data);

/// By the end of which epoch of a run that has so many its loss must have fallen: a tenth, but at least 5. It
/// is looked at once more whenever twice as many have passed, and at the run's end.
Index epochs_to_learn(Index epochs);

/// What to tell at the end of the last one of `epochs`, which begin with the first one, with the two
/// likeliest remedies for the manifest: no loss was at least 1 % below the first one's, or all of the later
/// half are at least as high as without input, and don't fall, or none of a whole run was lower. ""
/// otherwise, in epochs in which it isn't looked at, and where it has been told before. without_input: the
/// loss of that name.
std::string not_learning(const Job& job, std::span<const EpochRecord> epochs, double without_input);

// What a user is told where a loss or a gradient isn't finite: where it was first seen, and what to do.

/// Where one rank saw it first, in the order in which an epoch comes to these; −1: nowhere.
struct NonFinite {
  std::int32_t layer = -1;  // whose output; the first
  // which of Parameters::entries() in this rank's own gradient; the last, backward's first
  std::int32_t share = -1;
  std::int32_t sum = -1;  // likewise in the gradient summed over ranks
};

/// Throws Error on rank 0, naming layer, rank and the last good checkpoint ({0, 0}: there is none); the
/// others wait for that to end them, so that it is said once. Collective.
[[noreturn]] void fail_non_finite(Communicator& comm, const Model& model, const Parameters& parameters,
                                  const NonFinite& mine, const std::string& when,
                                  const Reached& last_checkpoint);

}  // namespace atl
