#include "tensor/cases/cases.h"

namespace atl::test {

KernelCase case_of(std::string_view kernel) {
  for (const auto& cases : {product_cases(), rowwise_cases(), softmax_cases(), step_cases()})
    for (const NamedCase& each : cases)
      if (kernel == each.kernel) return each.run;
  return nullptr;
}

void run_case(Context& ctx, std::string_view kernel, unsigned seeds) {
  const KernelCase run = case_of(kernel);
  ASSERT_NE(run, nullptr) << "a kernel without a case under tests/unit/tensor/cases";
  for (unsigned seed = 100; seed < 100 + seeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "shape of seed " << seed);
    Trial trial(ctx, seed);
    RandomSizes sizes(seed);
    run(trial, sizes);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace atl::test
