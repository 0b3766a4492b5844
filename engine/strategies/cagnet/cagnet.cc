// Strategy `cagnet`: ranks exchange whole blocks of rows, owner by owner, over a grid of ranks.
#include "job/strategies/boundary_rows.h"
#include "strategies/schedule/rows.h"

namespace atl {

Strategy cagnet_row() {
  return {.kind = "cagnet",
          .make = all_blocks_full_batch,
          .sends_products = sends_products,
          .reads = block_reads};
}

}  // namespace atl
