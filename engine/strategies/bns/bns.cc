// Strategy `bns`: trains on a sample of the boundary rows (Wan et al. 2022, "BNS-GCN"); inference is exact.
#include "job/strategies/boundary_rows.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

std::unique_ptr<Schedule> make_bns(const ScheduleInput& in) {
  if (in.inference_only) return exact_full_batch(in, true);
  return exact_full_batch(in, true, sampled_boundary_rows(in, in.job.strategy.options.number("rate")));
}

}  // namespace

Strategy bns_row() {
  return {.kind = "bns", .make = make_bns, .sends_products = sends_products};
}

}  // namespace atl
