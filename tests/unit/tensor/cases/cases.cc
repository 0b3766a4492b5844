#include "tensor/cases/cases.h"

namespace atl::test {

NamedCase case_of(std::string_view kernel) {
  for (const auto& cases : {product_cases(), rowwise_cases(), softmax_cases(), step_cases()})
    for (const NamedCase& each : cases)
      if (kernel == each.kernel) return each;
  return {};
}

void run_case(Context& ctx, std::string_view kernel, unsigned seeds) {
  const NamedCase found = case_of(kernel);
  ASSERT_NE(found.run, nullptr) << "a kernel without a case under tests/unit/tensor/cases";
  for (unsigned seed = 100; seed < 100 + seeds; ++seed)
    for (const Operands operands : {Operands::kAny, Operands::kQuarters}) {
      if (operands == Operands::kQuarters && !found.sums) continue;
      SCOPED_TRACE(testing::Message()
                   << "shape of seed " << seed << (operands == Operands::kQuarters ? ", quarters" : ""));
      Trial trial(ctx, seed, operands);
      RandomSizes sizes(seed);
      found.run(trial, sizes);
      if (testing::Test::HasFatalFailure()) return;
    }
}

}  // namespace atl::test
