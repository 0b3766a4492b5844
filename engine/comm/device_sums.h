// Sums over ranks of values that lie in a device's memory.
#pragma once

#include "comm/communicator.h"
#include "tensor/context.h"

namespace atl {

/// As Communicator::all_reduce, of values in the memory of ctx's device: by way of the host where it can't read them there. What the
/// stream is given afterwards finds the sums.
void all_reduce(Context& ctx, Communicator& comm, Traffic purpose, std::span<double> values);
/// The same over a group.
void all_reduce(Context& ctx, Communicator& comm, Traffic purpose, const RankGroup& group,
                std::span<double> values);

}  // namespace atl
