// Every kernel of the catalogue compared with the CPU's, over random shapes: none and one row, numbers of
// columns that fit no vector, hubs, empty rows.
#include <map>
#include <string>

#include "unit/cases.h"

namespace atl::test {
namespace {

std::map<std::string, KernelCase> all_cases() {
  std::map<std::string, KernelCase> all;
  for (const auto& cases : {product_cases(), rowwise_cases(), softmax_cases(), step_cases()})
    for (const NamedCase& each : cases) all[each.kernel] = each.run;
  return all;
}

class GpuKernel : public testing::TestWithParam<const char*> {};

TEST_P(GpuKernel, DoesWhatTheCpusDoes) {
  const auto cases = all_cases();
  ASSERT_TRUE(cases.contains(GetParam())) << "a kernel without a case under tests/cuda/unit";
  for (unsigned seed = 100; seed < 124; ++seed) {
    SCOPED_TRACE(testing::Message() << "shape of seed " << seed);
    Twins twins(seed);
    RandomSizes sizes(seed);
    cases.at(GetParam())(twins, sizes);
    if (HasFatalFailure()) return;
  }
}

constexpr const char* kCatalogue[] = {
#define ATOLL_KERNEL(name) #name,
    ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL
};
INSTANTIATE_TEST_SUITE_P(Catalogue, GpuKernel, testing::ValuesIn(kCatalogue),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace atl::test
