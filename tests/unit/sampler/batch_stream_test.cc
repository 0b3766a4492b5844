// Batches made ahead equal those made in turn, are never more than there is room for, and pass errors on to
// the thread that trains.
#include "sampler/batch_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "comm/ranks.h"
#include "sampler/sampled_graph.h"

namespace atl {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// What a rank samples with, from partitions, features by vertex of the data set.
struct RankSampling {
  RankSampling(const SampledGraph& graph, Communicator& comm, std::vector<int> fanout = {4, 3})
      : owners(graph.prepared.part_offsets(), comm.size()),
        structure(partitioned_structure(drawn_graph(graph.prepared, false, true), owners, comm, pool)),
        sampler(*structure, {.fanout = std::move(fanout)}),
        seeds(graph.prepared.quality().training,
              training_rows(graph.prepared, owners, comm.rank(),
                            [&](VertexId id) { return graph.marks[std::size_t(id)] != 0; }),
              20, 1),
        own(owners.rows(comm.rank()), 3) {
    for (Index r = 0; r < own.rows(); ++r)
      for (Index c = 0; c < 3; ++c)
        own.at(r, c) =
            Real(3 * graph.prepared.ids()[std::size_t(owners.first_row(comm.rank()) + r)]) + Real(c);
    store.emplace(ctx, owners, comm, own.view(),
                  FeatureStoreOptions{.cache_bytes = 2000, .policy = CachePolicy::kLru});
  }
  MakeBatch maker() { return batch_maker(seeds, sampler, {&*store}); }

  ThreadPool pool{1};
  Workspace workspace;
  Context ctx{Device::kCpu, &pool, &workspace};
  Owners owners;
  std::unique_ptr<Structure> structure;
  Sampler sampler;
  Seeds seeds;
  Matrix own;
  std::optional<FeatureStore> store;
};

/// Each rank's stream, with sums of the compute thread beside it; what the ranks' batches say together.
std::vector<std::vector<LayerArcs>> streamed(const SampledGraph& graph, int ranks, std::int64_t steps) {
  std::vector<std::vector<LayerArcs>> all(std::size_t(steps), std::vector<LayerArcs>(2));
  std::mutex lock;
  run_ranks(ranks, [&](Communicator& comm) {
    RankSampling sampling(graph, comm);
    BatchStream stream({sampling.maker()}, {.end = steps, .ahead = 3, .comm = &comm});
    for (std::int64_t step = 0; const StreamedBatch* batch = stream.next(); ++step) {
      EXPECT_EQ(batch->batch.step, step);
      for (std::size_t i = 0; i < batch->batch.ids().size(); ++i)
        EXPECT_EQ(batch->features.dense.at(Index(i), 2), Real(3 * batch->batch.ids()[i] + 2));
      std::int64_t seeds = Index(batch->batch.seeds().size());
      comm.all_reduce(Traffic::kGradient, std::span(&seeds, 1));
      EXPECT_EQ(seeds, sampling.seeds.size(step));
      const std::lock_guard guard(lock);
      for (int layer = 0; layer < 2; ++layer)
        EXPECT_TRUE(collect(batch->batch, layer, all[std::size_t(step)][std::size_t(layer)]));
    }
    const BatchStream::Figures figures = stream.figures();
    EXPECT_EQ(figures.made, steps);
    EXPECT_EQ(figures.fetched.own + figures.fetched.hits + figures.fetched.fetched, figures.rows);
  });
  return all;
}

TEST(BatchStream, DeliversTheSameBatchesOnAnyNumberOfRanks) {
  const SampledGraph graph;
  const auto one = streamed(graph, 1, 9);
  EXPECT_EQ(one[3][1].size(), 15U) << "the last step of an epoch";
  for (const int ranks : {2, 3, 5}) EXPECT_EQ(streamed(graph, ranks, 9), one) << ranks << " ranks";
}

/// Each with a sampler of its own, as a rank that is alone has them.
TEST(BatchStream, SeveralMakersDeliverTheSameBatchesInOrder) {
  const SampledGraph graph;
  const auto one = streamed(graph, 1, 60);
  std::vector<std::vector<LayerArcs>> several(60, std::vector<LayerArcs>(2));
  run_ranks(1, [&](Communicator& comm) {
    std::vector<std::unique_ptr<RankSampling>> samplings;
    std::vector<MakeBatch> makers;
    for (int i = 0; i < 3; ++i) {
      samplings.push_back(std::make_unique<RankSampling>(graph, comm));
      makers.push_back(samplings.back()->maker());
    }
    BatchStream stream(std::move(makers), {.end = 60, .ahead = 4, .comm = &comm});
    for (std::int64_t step = 0; const StreamedBatch* batch = stream.next(); ++step) {
      ASSERT_EQ(batch->batch.step, step);
      EXPECT_EQ(batch->fetched.own, Index(batch->batch.rows().size()));
      for (int layer = 0; layer < 2; ++layer)
        EXPECT_TRUE(collect(batch->batch, layer, several[std::size_t(step)][std::size_t(layer)]));
    }
    EXPECT_EQ(stream.figures().made, 60);
    EXPECT_EQ(stream.figures().fetched.own, stream.figures().rows);
  });
  EXPECT_EQ(several, one);
}

TEST(BatchStream, OfSeveralFailuresTheEarliestIsTold) {
  const MakeBatch fails_from_5 = [](std::int64_t step, StreamedBatch&) {
    std::this_thread::sleep_for(step == 5 ? 30ms : 1ms);
    if (step >= 5) fail("step {} can't be sampled", step);
  };
  BatchStream stream({fails_from_5, fails_from_5, fails_from_5}, {.end = 50, .ahead = 4});
  for (int step = 0; step < 5; ++step) ASSERT_NE(stream.next(), nullptr);
  EXPECT_THAT([&] { stream.next(); }, testing::ThrowsMessage<Error>(HasSubstr("step 5 can't be sampled")));
}

TEST(BatchStream, RunsAheadAsFarAsItHasRoom) {
  std::atomic<int> made{0};
  BatchStream stream({[&](std::int64_t step, StreamedBatch& into) { into.batch.step = step, ++made; }},
                     {.first = 5, .end = 100, .ahead = 3});
  const auto settle = [&](int expected) {
    for (int i = 0; i < 2000 && made < expected; ++i) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(made, expected);
  };
  settle(3);
  EXPECT_EQ(stream.next()->batch.step, 5);
  settle(4);
  for (std::int64_t step = 6; step < 10; ++step) EXPECT_EQ(stream.next()->batch.step, step);
  settle(8);
}

TEST(BatchStream, ABatchStaysUntilTheNextIsAskedFor) {
  BatchStream stream({[](std::int64_t step, StreamedBatch& into) {
                       into.features.dense.resize(1, 1);
                       into.features.dense.at(0, 0) = Real(step);
                     }},
                     {.end = 50, .ahead = 1});
  for (std::int64_t step = 0; const StreamedBatch* batch = stream.next(); ++step) {
    std::this_thread::sleep_for(1ms);
    EXPECT_EQ(batch->features.dense.at(0, 0), Real(step));
  }
  EXPECT_EQ(stream.next(), nullptr);
}

TEST(BatchStream, AnErrorReachesWhoeverAsksForThatStep) {
  BatchStream stream({[](std::int64_t step, StreamedBatch&) {
                       if (step == 4) fail("step 4 can't be sampled");
                     }},
                     {.end = 50, .ahead = 2});
  for (int step = 0; step < 4; ++step) EXPECT_NE(stream.next(), nullptr);
  for (int again = 0; again < 2; ++again) {
    try {
      stream.next();
      FAIL();
    } catch (const Error& e) {
      EXPECT_STREQ(e.what(), "step 4 can't be sampled");
    }
  }
}

/// The others' samplers wait for rank 1's rows, and their trainers for the samplers.
TEST(BatchStream, ARankThatFailsEndsTheOthers) {
  const SampledGraph graph;
  const auto begin = std::chrono::steady_clock::now();
  const auto failures =
      failures_of_ranks(make_local_group(3, {"a", "b", "c"}), {20s}, [&](Communicator& comm) {
        RankSampling sampling(graph, comm);
        BatchStream stream({sampling.maker()}, {.end = 1000, .ahead = 2, .comm = &comm});
        for (std::int64_t step = 0; stream.next() != nullptr; ++step)
          if (step == 5 && comm.rank() == 1) fail("rank 1 fails");
      });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_EQ(failures[1], "rank 1 fails");
  EXPECT_THAT(failures[0] + failures[2], HasSubstr("rank 1 on b has left the job"));
}

/// Its thread stands waiting for a rank that is busy with something else.
TEST(BatchStream, ARankThatFailsDoesNotWaitForItsSampler) {
  const SampledGraph graph;
  std::chrono::steady_clock::duration took{};
  const auto failures = failures_of_ranks(make_local_group(2), {20s}, [&](Communicator& comm) {
    if (comm.rank() == 1) return std::this_thread::sleep_for(2s);
    const auto begin = std::chrono::steady_clock::now();
    try {
      RankSampling sampling(graph, comm);
      BatchStream stream({sampling.maker()}, {.end = 10, .comm = &comm});
      std::this_thread::sleep_for(50ms);
      fail("rank 0 fails");
    } catch (const Error&) {
      took = std::chrono::steady_clock::now() - begin;
      throw;
    }
  });
  EXPECT_EQ(failures[0], "rank 0 fails");
  EXPECT_LT(took, 1s);
}

TEST(BatchStream, AMissingRankIsNamedWhereABatchIsWaitedFor) {
  const SampledGraph graph;
  const auto failures = failures_of_ranks(make_local_group(2, {"a", "b"}), {300ms}, [&](Communicator& comm) {
    if (comm.rank() == 1) return std::this_thread::sleep_for(1s);
    RankSampling sampling(graph, comm);
    BatchStream stream({sampling.maker()}, {.end = 10, .comm = &comm});
    stream.next();
  });
  EXPECT_THAT(failures[0], HasSubstr("no message for 0.3 s from or to rank 1 on b"));
}

/// As where training stops early: all ranks leave after the same step, whatever their threads were at.
TEST(BatchStream, MayEndBeforeItsLastStep) {
  const SampledGraph graph;
  for (const int steps : {0, 1, 7})
    run_ranks(3, [&](Communicator& comm) {
      RankSampling sampling(graph, comm);
      {
        BatchStream stream({sampling.maker()}, {.end = 1000, .ahead = 2, .comm = &comm});
        for (int step = 0; step < steps; ++step) stream.next();
      }
      std::int64_t one = 1;
      comm.all_reduce(Traffic::kGradient, std::span(&one, 1));
      EXPECT_EQ(one, 3);
    });
}

TEST(BatchStream, AfterAWarmUpEpochAtMostOneGrowthInAThousandSteps) {
  const SampledGraph graph({.graph = {3000, 30000, 1, false}});
  run_ranks(2, [&](Communicator& comm) {
    RankSampling sampling(graph, comm);
    const std::int64_t epoch = sampling.seeds.steps();
    BatchStream stream({sampling.maker()}, {.end = epoch + 1000, .ahead = 2, .comm = &comm});
    Index before = 0;
    for (std::int64_t step = 0; stream.next() != nullptr; ++step)
      if (step == epoch - 1) before = stream.figures().reallocations;
    EXPECT_LE(stream.figures().reallocations - before, 1);
  });
}

}  // namespace
}  // namespace atl
