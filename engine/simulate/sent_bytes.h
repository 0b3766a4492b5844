// What ranks send in an epoch of a recording.
#pragma once

#include "simulate/recording.h"
#include "simulate/topology.h"

namespace atl {

/// Of all ranks, in an epoch.
struct SentBytes {
  double inside = 0, between = 0;  // servers
};

/// The mean over the last `epochs` of the recording: of what training starts in them, of the batches that it takes in them, whenever these are
/// made, and of the explanations that it begins. Those that are made ahead of the end are of epochs that nobody recorded.
SentBytes sent_bytes(const Recording& recording, const Topology& topology, int epochs);

}  // namespace atl
