// Strategy `graph`: the exact exchange of boundary rows.
#include "job/strategies/boundary_rows.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

std::unique_ptr<Schedule> make_graph(const ScheduleInput& in) {
  return exact_full_batch(in, in.job.strategy.options.flag("overlap"), all_boundary_rows(in));
}

}  // namespace

Strategy graph_row() {
  return {.kind = "graph", .make = make_graph, .sends_products = sends_products};
}

}  // namespace atl
