// Model gcn, as manifests know it: no options.
#include "job/models/kinds.h"

namespace atl {

ModelInfo gcn_info() {
  return {.kind = "gcn",
          .description = "graph convolution, symmetric normalisation D^-1/2 (A + I) D^-1/2",
          .source = "Kipf & Welling 2017",
          .also_called = {"gcnconv", "graphconv"}};
}

}  // namespace atl
