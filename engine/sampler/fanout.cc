#include "sampler/fanout.h"

#include "base/error.h"
#include "base/readable.h"

namespace atl {

void check_fanout(std::span<const int> fanout, int layers, const std::string& field) {
  if (fanout.size() != std::size_t(layers))
    fail("{}: has {} for {} that gather neighbours; give one per layer, the layer nearest to the input first",
         field, counted_text(std::int64_t(fanout.size()), "number"), counted_text(layers, "layer"));
  for (std::size_t layer = 0; layer < fanout.size(); ++layer)
    if (fanout[layer] < 1 && fanout[layer] != kAllNeighbours)
      fail("{}[{}]: {} is not allowed (use 1 or more, or -1 for all neighbours)", field, layer,
           fanout[layer]);
}

}  // namespace atl
