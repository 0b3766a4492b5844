// SIGN's powers for batches that read no neighbours (minibatch's sampler none): what making them holds and
// sends. That they are right: own_row_batches_f64_test.cc.
#include <gmock/gmock.h>

#include <filesystem>
#include <numeric>
#include <utility>

#include "strategies/schedule/layerwise_inference.h"
#include "train/small_job.h"

namespace atl {
namespace {

constexpr int kRanks = 3;
constexpr Index kFeatures = 6;

/// Each rank reads all arcs, so that it asks others for rows alone.
Job powers_job(int hops, std::vector<std::string> more = {}) {
  more.insert(more.begin(),
              {"model.kind=sign", fmt::format("model.options={{hops: {}}}", hops), "strategy.kind=minibatch",
               "strategy.minibatch={sampler: none, structure: mapped, batchSize: 7}",
               fmt::format("placement.ranks={}", kRanks), "placement.partitioner=hash"});
  return small_job(more);
}

class Powers : public testing::Test {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", {.features = kFeatures}); }

  /// Bytes that all ranks send until they train.
  std::int64_t sent(int hops) {
    std::vector<std::int64_t> by_rank(kRanks);
    run_ranks(kRanks, [&](Communicator& comm) {
      SmallRank rank(comm, powers_job(hops), folder_ / "small", 1);
      by_rank[std::size_t(comm.rank())] = comm.ledger().bytes(Link::kIntra, Traffic::kSetup);
    });
    return std::accumulate(by_rank.begin(), by_rank.end(), std::int64_t(0));
  }
  TemporaryFolder folder_;
};

/// Memory begins at a cache line, and ends at one.
TEST_F(Powers, AreMadeInOneMemory) {
  constexpr int kHops = 4;
  const Job job = powers_job(kHops);
  run_ranks(kRanks, [&](Communicator& comm) {
    ThreadPool pool(1);
    Workspace workspace;
    Context ctx{Device::kCpu, &pool, &workspace};
    const Dataset dataset = Dataset::open(folder_ / "small");
    const PreparedGraph prepared = PreparedGraph::make(dataset, partition_options(job, kRanks),
                                                       graph_transforms(job), training_marks(dataset, job));
    const RankData data(job, dataset, prepared, comm.rank());
    const Model model = job_model(job, data.features(), data.classes());
    Parameters parameters(model.parameters(), 1, model_share_of(job, model, comm.rank()).places,
                          Device::kCpu);
    const Holding held = data.held();
    LayerwiseInference slabs(ctx, comm, model, parameters, held.batches(),
                             {.layers = {0, model.constant_prefix()}, .mapped = true});
    const ConstMatrixView powers = slabs.infer();
    EXPECT_EQ(powers.rows, data.owned());
    EXPECT_EQ(powers.cols, (kHops + 1) * kFeatures);
    ScheduleBytes bytes;
    slabs.count(bytes);
    const Index of_powers = powers.rows * powers.cols * Index(sizeof(Real));
    EXPECT_GE(bytes.activations, of_powers);
    EXPECT_LT(bytes.activations, of_powers + 64);
  });
}

/// A power is made of the one before alone.
TEST_F(Powers, SendAsManyBytesEach) {
  const std::int64_t two = sent(2), three = sent(3), four = sent(4);
  EXPECT_GT(three, two);
  EXPECT_EQ(four - three, three - two);
}

/// The same bits, without the powers in memory, in a folder where nobody sees a file, not even meanwhile.
TEST_F(Powers, LieInAFileWithoutAName) {
  const std::filesystem::path sums = folder_ / "sums";
  std::filesystem::create_directory(sums);
  for (const std::string setting : {"transductive", "inductive"}) {
    const Job in_memory = powers_job(3, {"training.setting=" + setting}),
              in_file = powers_job(
                  3, {"training.setting=" + setting, "strategy.minibatch.sumsFolder=" + sums.string()});
    const SmallResult one = train_small(in_memory, folder_ / "small", kRanks, 4),
                      other = train_small(in_file, folder_ / "small", kRanks, 4);
    EXPECT_EQ(other.losses, one.losses) << setting;
    EXPECT_EQ(other.weights, one.weights) << setting;
    EXPECT_EQ(other.validation_loss, one.validation_loss) << setting;
    std::vector<Index> held(kRanks), without(kRanks), rows(kRanks);
    for (const auto& [job, bytes] : {std::pair{&in_memory, &held}, std::pair{&in_file, &without}})
      run_ranks(kRanks, [&, job = job, bytes = bytes](Communicator& comm) {
        SmallRank rank(comm, *job, folder_ / "small", 1);
        (*bytes)[std::size_t(comm.rank())] = rank.trainer->bytes().activations;
        rows[std::size_t(comm.rank())] = rank.data.owned();
        EXPECT_TRUE(std::filesystem::is_empty(sums));
      });
    const Index graphs = setting == "inductive" ? 2 : 1;
    for (std::size_t rank = 0; rank < std::size_t(kRanks); ++rank)
      EXPECT_GE(held[rank] - without[rank], graphs * rows[rank] * 4 * kFeatures * Index(sizeof(Real)));
  }
  EXPECT_TRUE(std::filesystem::is_empty(sums));
}

TEST_F(Powers, NameTheFolderThatIsMissing) {
  run_ranks(1, [&](Communicator& comm) {
    const Job job = powers_job(2, {"placement.ranks=1", "strategy.minibatch.sumsFolder=/is/not/there"});
    try {
      SmallRank rank(comm, job, folder_ / "small", 1);
      FAIL() << "made a file in a folder that is missing";
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("/is/not/there"));
    }
  });
}

}  // namespace
}  // namespace atl
