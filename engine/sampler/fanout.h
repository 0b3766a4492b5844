// How many neighbours a vertex reads in each layer that gathers, and what is wrong with a wish for it.
#pragma once

#include <span>
#include <string>

namespace atl {

/// A fanout that means all neighbours.
inline constexpr int kAllNeighbours = -1;

/// fanout: by gathering layer, the one nearest to the input first. Throws Error, which begins with `field`, unless there is one
/// for each of `layers` layers, each 1 or more, or −1.
void check_fanout(std::span<const int> fanout, int layers, const std::string& field);

}  // namespace atl
