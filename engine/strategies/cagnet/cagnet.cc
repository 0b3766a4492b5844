// Strategy `cagnet`: ranks exchange whole blocks of rows, owner by owner, over a grid of ranks.
#include "job/strategies/boundary_rows.h"
#include "strategies/schedule/owner_view.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

std::unique_ptr<PartView> cagnet_view(const ViewInput& in) {
  return std::make_unique<OwnerView>(in, all_blocks_full_batch);
}

}  // namespace

Strategy cagnet_row() {
  return {.kind = "cagnet", .view = cagnet_view, .sends_products = sends_products};
}

}  // namespace atl
