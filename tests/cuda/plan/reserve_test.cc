// The memory that a full batch needs on a GPU is planned, and reserved in one allocation: training and
// evaluations allocate no more.
#include <gtest/gtest.h>

#include "gpu_training.h"
#include "plan/job_plan.h"
#include "tensor/device_stream.h"

namespace atl::test {
namespace {

class PlannedReserve : public OnEmulatedGpus, public testing::WithParamInterface<SmallCase> {};

TEST_P(PlannedReserve, IsAllThatTrainingTakes) {
  constexpr SmallData kData{.vertices = 700, .features = 24, .arc_share = 0.008};
  write_small_data(folder_ / "small", kData);
  std::vector<std::string> fields = GetParam().fields;
  fields.push_back("model.hidden=24");
  const Job job = small_job(fields);
  const int ranks = job.placement.ranks;
  const Dataset dataset = Dataset::open(folder_ / "small");
  const PreparedGraph prepared = PreparedGraph::make(dataset, partition_options(job, ranks),
                                                     graph_transforms(job), training_marks(dataset, job));
  const JobPlan plan = plan_job(job, dataset, prepared, {1, {1, 1, 1}, 1});
  run_gpu_ranks(ranks, Gpus::kOwn, [&](Communicator& comm) {
    const OpenDevice device = backend().open(comm.rank());
    const Index planned = plan.ranks[std::size_t(comm.rank())].memory.on_device();
    const DeviceReserve reserve(Device::kCuda, planned);
    const std::int64_t asked = emulated::allocations(), bytes = emulated::allocated_bytes();
    SmallRank rank(comm, job, folder_ / "small", 1, {}, Device::kCuda, *device.stream);
    for (Index epoch = 1; epoch <= 2; ++epoch) {
      rank.trainer->train_epoch(epoch, 0.01);
      rank.trainer->evaluate();
    }
    EXPECT_EQ(emulated::allocations(), asked)
        << emulated::allocated_bytes() - bytes << " beside " << planned << " bytes";
  });
}
INSTANTIATE_TEST_SUITE_P(
    Jobs, PlannedReserve,
    testing::Values(SmallCase{"gcn", {}}, SmallCase{"gcn_on_two", {"placement.ranks=2"}},
                    SmallCase{"sage", {"model.kind=sage", "model.norm=batch", "placement.ranks=2"}},
                    SmallCase{"gat", {"model.kind=gat", "placement.ranks=2"}},
                    SmallCase{"gcnii", {"model.kind=gcnii", "model.norm=layer", "placement.ranks=2"}},
                    SmallCase{"recomputed", {"training.recompute=layer", "placement.ranks=2"}},
                    SmallCase{"pipegcn", {"strategy.kind=pipegcn", "placement.ranks=2"}},
                    SmallCase{"gnnpipe", {"strategy.kind=gnnpipe", "placement.ranks=2"}},
                    SmallCase{"cagnet", {"strategy.kind=cagnet", "placement.ranks=2"}}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl::test
