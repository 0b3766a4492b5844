// Jobs are held to the memory of what they train on: the host's, or a GPU's beside what the host keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "command/run/job_room.h"
#include "tensor/backend.h"
#include "train/small_job.h"

namespace atl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Whose layers are so wide that nearly all memory is the passes' and the weights', which a GPU has.
class GpuMemory : public testing::Test {
 protected:
  GpuMemory() { write_small_data(folder_ / "small", {.vertices = 3000, .arc_share = 0.001}); }
  ~GpuMemory() override { install_backend(nullptr); }

  static LoadedJob loaded(const std::string& memory) {
    return parse_job(
        "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
        "  model: {kind: gcn, layers: 3, hidden: 1024}\n",
        "small.yaml", {"resources.memory=" + memory});
  }
  JobPlan plan(const LoadedJob& job) const {
    const Dataset dataset = Dataset::open(folder_ / "small");
    return memory_plan(job.job, dataset, prepare_graph(job, dataset, say), 1);
  }
  void check(const std::string& memory, TrainsOn on) const {
    said.clear();
    const LoadedJob job = loaded(memory);
    check_memory(job, plan(job), false, on, say);
  }
  static void say(const std::string& line) { said += line + "\n"; }

  inline static std::string said;
  TemporaryFolder folder_;
};

/// By hand: graph and features of 3000 vertices and the weights beside the program, and no row of 1024
/// columns.
TEST_F(GpuMemory, OfTheHostIsWhatIsReadAndNotThePasses) {
  const RankMemory memory = plan(loaded("1Gi")).ranks[0].memory;
  const Index columns = Index(3000) * 1024 * 4;
  EXPECT_GT(memory.held(), memory.beside_gpu + 3 * columns);
  EXPECT_LT(memory.beside_gpu, (Index(32) << 20) + columns);
  Index on_host = 0;
  for (const MemoryItem& item : memory.items)
    if (item.on_host || item.name == "graph" || item.name == "features") on_host += item.bytes;
  EXPECT_GE(memory.beside_gpu, on_host);
}

/// The prepare pod of a job on GPUs ended it for want of memory that its GPUs have.
TEST_F(GpuMemory, OfAJobOnGpusIsntAskedOfTheHost) {
  EXPECT_THAT([&] { check("50Mi", TrainsOn::kCpus); },
              ThrowsMessage<Error>(HasSubstr("resources.memory: 50.0 MiB is too little")));
  EXPECT_NO_THROW(check("50Mi", TrainsOn::kGpus));
  EXPECT_EQ(said, "");
  EXPECT_THAT([&] { check("10Mi", TrainsOn::kGpus); },
              ThrowsMessage<Error>(AllOf(HasSubstr("resources.memory: 10.0 MiB is too little"),
                                         HasSubstr("the host keeps the graph and the features"))));
}

TEST_F(GpuMemory, OfAJobThatMayFindAGpuIsToldAndNotRefused) {
  EXPECT_NO_THROW(check("50Mi", TrainsOn::kEither));
  EXPECT_THAT(said, AllOf(HasSubstr("warning: "), HasSubstr("resources.memory: 50.0 MiB is too little"),
                          HasSubstr("that is on CPUs")));
  EXPECT_THROW(check("10Mi", TrainsOn::kEither), Error) << "too little in any case";
  EXPECT_NO_THROW(check("1Gi", TrainsOn::kEither));
  EXPECT_EQ(said, "");
}

TEST_F(GpuMemory, IsThatOfTheDeviceThatARankChooses) {
  const auto on = [](const char* device, int gpus) {
    Arguments arguments;
    if (*device != 0) arguments.add("--device", device);
    Job job;
    job.resources.gpus = gpus;
    return trains_on(arguments, job);
  };
  EXPECT_EQ(on("", 0), TrainsOn::kCpus) << "a build without GPUs";
  EXPECT_EQ(on("", 1), TrainsOn::kGpus);
  EXPECT_EQ(on("cpu", 1), TrainsOn::kCpus);
  EXPECT_EQ(on("cuda", 0), TrainsOn::kGpus);
  const Backend some{};
  install_backend(&some);
  EXPECT_EQ(on("", 0), TrainsOn::kEither);
  EXPECT_EQ(on("cpu", 0), TrainsOn::kCpus);
}

}  // namespace
}  // namespace atl
