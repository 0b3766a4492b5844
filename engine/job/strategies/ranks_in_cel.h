// placement.ranks as the API server's rules (CEL) read it from a GNNJob's spec, where it may be left out.
#pragma once

namespace atl {

inline constexpr const char* kRanksInCel =
    "(has(self.placement) && has(self.placement.ranks) ? self.placement.ranks : 1)";

}  // namespace atl
