// Batches by asking owners equal batches by reading everything, to the bit, and a rank reads only its own
// arcs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "comm/ranks.h"
#include "sampler/sampled_graph.h"

namespace atl {
namespace {

template <class T>
bool same_array(const T* a, const T* b, Index count) {
  if ((a == nullptr) != (b == nullptr)) return false;
  return a == nullptr || std::equal(a, a + count, b);
}

bool same_csr(const CsrView& a, const CsrView& b) {
  return a.rows == b.rows && a.cols == b.cols && same_array(a.offsets, b.offsets, a.rows + 1) &&
         same_array(a.columns, b.columns, a.arcs()) && same_array(a.weights, b.weights, a.arcs());
}

void expect_same(const Batch& a, const Batch& b) {
  EXPECT_TRUE(std::ranges::equal(a.rows(), b.rows()));
  EXPECT_TRUE(std::ranges::equal(a.ids(), b.ids()));
  ASSERT_EQ(a.layers(), b.layers());
  for (int layer = 0; layer < a.layers(); ++layer) {
    const Block x = a.block(layer), y = b.block(layer);
    EXPECT_TRUE(same_csr(x.arcs, y.arcs));
    EXPECT_TRUE(same_csr(x.transpose, y.transpose));
    EXPECT_TRUE(same_array(x.transpose_arc, y.transpose_arc, x.arcs.arcs()));
    EXPECT_TRUE(same_array(x.dst_scale, y.dst_scale, x.dst()));
    EXPECT_TRUE(same_array(x.src_scale, y.src_scale, x.src()));
  }
}

/// A copy of a graph in which only one rank's rows can be read: elsewhere are numbers that would end the
/// process.
class OwnRows {
 public:
  OwnRows(const DrawnGraph& graph, const Owners& owners, Rank rank)
      : offsets_(std::size_t(graph.whole.rows) + 1, Index(1) << 60), ids_(graph.ids.size(), -1) {
    const Index begin = owners.first_row(rank), end = owners.first_row(rank + 1);
    std::copy(graph.whole.offsets + begin, graph.whole.offsets + end + 1, offsets_.begin() + begin);
    std::copy(graph.ids.begin() + begin, graph.ids.begin() + end, ids_.begin() + begin);
    own_ = graph;
    own_.whole.offsets = own_.by_id.rows.offsets = offsets_.data();
    own_.ids = ids_;
  }
  const DrawnGraph& graph() const { return own_; }

 private:
  std::vector<Index> offsets_;
  std::vector<VertexId> ids_;
  DrawnGraph own_;
};

struct Case {
  const char* name;
  SamplingOptions options;
  bool weighted;
};

TEST(PartitionedStructure, GivesTheBatchesThatMappedFilesGive) {
  for (const Case& c :
       {Case{"sum", {.fanout = {4, 3}}, false},
        Case{"weighted mean", {.fanout = {4, 3, 2}, .normalisation = Normalisation::kMean}, true},
        Case{"symmetric", {.fanout = {kAllNeighbours, 3}, .normalisation = Normalisation::kSymmetric}, false},
        Case{"weighted symmetric",
             {.fanout = {5, 80}, .replace = true, .normalisation = Normalisation::kSymmetric},
             true},
        Case{"attention", {.fanout = {4, 3}, .attention = true}, false}}) {
    SCOPED_TRACE(c.name);
    const SampledGraph graph({.graph = {300, 6000, 1, c.weighted}});
    for (const int ranks : {1, 2, 3, 5})
      run_ranks(ranks, [&](Communicator& comm) {
        const DrawnGraph all = drawn_graph(graph.prepared, false, true);
        const Owners owners(graph.prepared.part_offsets(), ranks);
        const OwnRows own(all, owners, comm.rank());
        ThreadPool pool(1);
        const auto mapped = mapped_structure(all, pool);
        const auto asking = partitioned_structure(own.graph(), owners, comm, pool);
        Sampler reads(*mapped, c.options), asks(*asking, c.options);
        Batch a, b;
        for (const std::int64_t step : {0, 7, 40}) {
          const auto seeds = graph.seeds(ranks, comm.rank(), step, 20);
          reads.sample(step, seeds, a);
          asks.sample(step, seeds, b);
          expect_same(a, b);
        }
      });
  }
}

TEST(PartitionedStructure, ARankWithoutSeedsTakesPart) {
  const SampledGraph graph;
  run_ranks(3, [&](Communicator& comm) {
    const Owners owners(graph.prepared.part_offsets(), 3);
    const DrawnGraph all = drawn_graph(graph.prepared, false, true);
    ThreadPool pool(1);
    const auto mapped = mapped_structure(all, pool);
    const auto asking = partitioned_structure(all, owners, comm, pool);
    const SamplingOptions options{.fanout = {4, 3}, .normalisation = Normalisation::kSymmetric};
    Batch a, b;
    std::vector<VertexId> seeds;
    if (comm.rank() == 1) seeds = graph.seeds(3, 1, 0, 20);
    Sampler(*mapped, options).sample(0, seeds, a);
    Sampler(*asking, options).sample(0, seeds, b);
    expect_same(a, b);
    EXPECT_GT(comm.ledger().bytes(Link::kIntra, Traffic::kStructure), 0);
  });
}

TEST(PartitionedStructure, WhatIsSentIsCountedByPurpose) {
  const SampledGraph graph;
  for (const int ranks : {1, 2})
    run_ranks(ranks, [&](Communicator& comm) {
      const Owners owners(graph.prepared.part_offsets(), ranks);
      ThreadPool pool(1);
      const auto asking = partitioned_structure(drawn_graph(graph.prepared, false, true), owners, comm, pool);
      Batch batch;
      Sampler(*asking, {.fanout = {2}}).sample(0, graph.seeds(ranks, comm.rank(), 0, 20), batch);
      const Ledger ledger = comm.ledger();
      EXPECT_EQ(ledger.bytes(Link::kIntra) == 0, ranks == 1);
      if (ranks == 1) return;
      const auto remote = std::ranges::count_if(
          batch.rows(), [&](VertexId row) { return owners.owner_of(row) != comm.rank(); });
      EXPECT_GT(remote, 0);
      std::int64_t ids[2] = {ledger.bytes(Link::kIntra, Traffic::kIds), remote};
      comm.all_reduce(Traffic::kStatistics, std::span(ids));
      EXPECT_EQ(ids[0], 2 * 8 + 2 * 4 * ids[1]) << "sizes, rows and ids";
      EXPECT_EQ(ledger.bytes(Link::kIntra, Traffic::kStructure), 8) << "seeds are a rank's own";
    });
}

TEST(PartitionedStructure, AMissingRankIsAnError) {
  const SampledGraph graph;
  const auto failures = failures_of_ranks(
      make_local_group(2, {"a", "b"}), {std::chrono::milliseconds(200)}, [&](Communicator& comm) {
        if (comm.rank() == 1) return std::this_thread::sleep_for(std::chrono::milliseconds(600));
        const Owners owners(graph.prepared.part_offsets(), 2);
        ThreadPool pool(1);
        const auto asking =
            partitioned_structure(drawn_graph(graph.prepared, false, true), owners, comm, pool);
        Batch batch;
        Sampler(*asking, {.fanout = {2}}).sample(0, graph.seeds(2, 0, 0, 20), batch);
      });
  EXPECT_THAT(failures[0],
              testing::HasSubstr("structure exchange: no message for 0.2 s from or to rank 1 on b"));
}

}  // namespace
}  // namespace atl
