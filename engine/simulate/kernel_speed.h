// How fast a rank computes on another processor, from rates of three kinds of kernels there and here: a model.
#pragma once

#include "simulate/recording.h"
#include "simulate/topology.h"

namespace atl {

/// Of a rank: how many times as fast as it was recorded. Topology::speed; or, of a topology with rates, what the rank's products, gathers and
/// streams take here, one after the other, over what they take there.
double kernel_speed(const Recording& recording, const Topology& topology, Rank rank);

}  // namespace atl
