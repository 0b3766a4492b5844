// What a user is told where a loss or a gradient isn't finite: where it was first seen, and what to do.
#pragma once

#include "comm/communicator.h"
#include "model/model.h"
#include "telemetry/reached.h"

namespace atl {

/// Where one rank saw it first, in the order in which an epoch comes to these; −1: nowhere.
struct NonFinite {
  std::int32_t layer = -1;  // whose output; the first
  std::int32_t share =
      -1;  // which of Parameters::entries() in this rank's own gradient; the last, backward's first
  std::int32_t sum = -1;  // likewise in the gradient summed over ranks
};

/// Throws Error on rank 0, naming layer, rank and the last good checkpoint ({0, 0}: there is none); the others wait for that to end them, so that
/// it is said once. Collective.
[[noreturn]] void fail_non_finite(Communicator& comm, const Model& model, const Parameters& parameters,
                                  const NonFinite& mine, const std::string& when,
                                  const Reached& last_checkpoint);

}  // namespace atl
