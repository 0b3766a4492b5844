// Every kernel of the catalogue, with the loops of every instruction set, held to its reference over random
// shapes. The tests of single kernels beside this one look at what only their kernel has.
#include "tensor/cases/cases.h"

namespace atl::test {
namespace {

class CpuKernel : public testing::TestWithParam<std::tuple<const char*, NamedCase>> {
 protected:
  void SetUp() override {
    const char* const level = std::get<0>(GetParam());
    const simd::Table* table = simd::table_named(level);
    if (table == nullptr) GTEST_SKIP() << "this machine cannot run " << level;
    simd::use(*table);
  }
};

TEST_P(CpuKernel, DoesWhatItsReferenceSays) {
  TestRank rank(3);
  run_case(rank.ctx, std::get<1>(GetParam()).kernel, 16);
}

auto at_every_level(const std::vector<NamedCase>& cases) {
  return testing::Combine(testing::Values("baseline", "avx2", "avx512"), testing::ValuesIn(cases));
}
/// Levels that multiply pairs of halves.
auto by_pairs(const std::vector<NamedCase>& products) {
  return testing::Combine(testing::Values("avx512bf16", "amx"), testing::ValuesIn(products));
}
std::string name_of(const testing::TestParamInfo<std::tuple<const char*, NamedCase>>& one) {
  return std::string(std::get<1>(one.param).kernel) + "_" + std::get<0>(one.param);
}
INSTANTIATE_TEST_SUITE_P(Products, CpuKernel, at_every_level(product_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(ProductsByPairs, CpuKernel, by_pairs(product_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Rowwise, CpuKernel, at_every_level(rowwise_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Softmax, CpuKernel, at_every_level(softmax_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Step, CpuKernel, at_every_level(step_cases()), name_of);

TEST(Catalogue, EveryKernelHasACase) {
  for (const char* const kernel : {
#define ATOLL_KERNEL(name) #name,
           ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL
       })
    EXPECT_NE(case_of(kernel).run, nullptr) << kernel << " has none under tests/unit/tensor/cases";
}

}  // namespace
}  // namespace atl::test
