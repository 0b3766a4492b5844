// Which stale values PipeGCN replaces by their moving average (Wan et al. 2022, section 3.4).
#pragma once

#include "job/options.h"

namespace atl {

struct Smoothing {
  bool rows = false, gradients = false;
};

/// What the options of `pipegcn` say. `auto` smooths both, unless nothing is late, or a sample of boundary
/// rows brings other rows in each epoch.
Smoothing pipegcn_smoothing(const Options& options);

}  // namespace atl
