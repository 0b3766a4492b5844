// Every kernel of the catalogue held to its reference, over random shapes: none and one row, numbers of
// columns that fit no vector, hubs, empty rows.
#include "tensor/cases/cases.h"
#include "unit/gpu_rank.h"

namespace atl::test {
namespace {

class GpuKernel : public testing::TestWithParam<const char*> {};

TEST_P(GpuKernel, DoesWhatItsReferenceSays) {
  GpuRank rank;
  run_case(rank.ctx, GetParam(), 24);
}

constexpr const char* kCatalogue[] = {
#define ATOLL_KERNEL(name) #name,
    ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL
};
INSTANTIATE_TEST_SUITE_P(Catalogue, GpuKernel, testing::ValuesIn(kCatalogue),
                         [](const auto& one) { return std::string(one.param); });

/// By packs of 8, 4 and 1; by as many as a lane has, more than one slice of a head; hubs, whose pieces are
/// put together.
TEST(Attention, OfHeadsOfEveryWidth) {
  GpuRank rank;
  for (const unsigned halves : {0, 1})
    for (const Index width : {1, 8, 12, 64, 200, 256, 264, 260, 99, 515, 520, 1032})
      for (const int heads : {1, 4}) {
        SCOPED_TRACE(testing::Message() << heads << " heads of " << width << ", in halves: " << halves);
        Trial there(rank.ctx, 200 + halves), back(rank.ctx, 200 + halves);
        there.alike(), back.alike();
        attention_add_of(there, {12, width == 8 ? 5000 : 20, width, heads});
        attention_backward_of(back, {12, 20, width, heads});
        if (testing::Test::HasFatalFailure()) return;
      }
}

}  // namespace
}  // namespace atl::test
