// The plan of servers that hold copies of each other's vertices, compared with a plain search of the graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "plan/job_plan.h"
#include "plan/section_of.h"
#include "strategies/granndis/plan.h"
#include "train/small_job.h"

namespace atl {
namespace {

using testing::HasSubstr;

struct Held {
  std::set<VertexId> own, copies;
  Index arcs = 0;
};

/// Rows of the parts first … first + parts − 1, and whatever is at most `hops` steps from them. Those of the
/// last hop have no arcs.
Held search(const PreparedGraph& prepared, int first, int parts, int hops) {
  Held held;
  const CsrView graph = prepared.graph();
  std::set<VertexId> reached;
  for (Index row = prepared.part_offsets()[std::size_t(first)];
       row < prepared.part_offsets()[std::size_t(first + parts)]; ++row)
    held.own.insert(VertexId(row));
  reached = held.own;
  for (int hop = 0; hop < hops; ++hop) {
    std::set<VertexId> further = reached;
    for (const VertexId row : reached)
      for (const VertexId to : graph.row(row)) further.insert(to);
    if (hop + 1 == hops)
      for (const VertexId row : reached) held.arcs += Index(graph.row(row).size());
    reached = further;
  }
  std::ranges::set_difference(reached, held.own, std::inserter(held.copies, held.copies.end()));
  return held;
}

struct Planned {
  JobPlan plan;
  const std::vector<ServerPlan>& servers() const { return section_of<ServersSection>(plan).servers(); }
  std::vector<Held> expected, of_one_hop;  // by server
  std::string text, json;
  std::vector<std::string> lines;
};

Planned planned(const std::vector<std::string>& fields) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 200, .arc_share = 0.01});
  const Job job = small_job(fields);
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, partition_options(job, job.placement.ranks),
                                            graph_transforms(job), training_marks(dataset, job));
  Planned made{plan_job(job, dataset, prepared, {1, {1e9, 1e9, 1e9}, 1e9}), {}, {}, {}, {}, {}};
  for (int first = 0; first < job.placement.ranks; first += 2)
    made.expected.push_back(search(prepared, first, 2, 2)),
        made.of_one_hop.push_back(search(prepared, first, 2, 1));
  made.text = to_text(made.plan, job), made.json = to_json(made.plan, job);
  if (made.plan.section) made.lines = made.plan.section->lines(made.plan, job);
  return made;
}

TEST(ServerPlans, CountWhatEachServerHolds) {
  const Planned made =
      planned({"model={kind: sage, layers: 2, hidden: 8}", "strategy={kind: granndis}", "placement.ranks=4",
               "placement.ranksPerServer=2", "strategy.granndis={maxHop: 0, fanout: -1}"});
  ASSERT_EQ(made.servers().size(), 2U);
  for (std::size_t s = 0; s < 2; ++s) {
    const ServerPlan& server = made.servers()[s];
    EXPECT_EQ(server.ranks, (std::vector<Rank>{Rank(2 * s), Rank(2 * s + 1)}));
    EXPECT_EQ(server.own, Index(made.expected[s].own.size()));
    EXPECT_EQ(server.copies, Index(made.expected[s].copies.size()));
    EXPECT_EQ(server.arcs, made.expected[s].arcs);
    EXPECT_EQ(server.computed,
              (std::vector<Index>{server.own + Index(made.of_one_hop[s].copies.size()), server.own}));
    EXPECT_EQ(server.bytes, made.plan.ranks[2 * s].memory.held() + made.plan.ranks[2 * s + 1].memory.held());
    EXPECT_THAT(made.json, HasSubstr(fmt::format("\"own\":{},\"copies\":{}", server.own, server.copies)));
    EXPECT_THAT(made.lines[s], HasSubstr(fmt::format("server {} holds {} vertices of its own and {} copies",
                                                     s, server.own, server.copies)));
  }
  EXPECT_THAT(made.text, HasSubstr("held by each server"));
}

/// By work, not by the number of copies, some of which have no arcs.
TEST(ServerPlans, DivideArcsEvenlyOverTheRanksOfAServer) {
  for (const char* options : {"{maxHop: 0, fanout: -1}", "{maxHop: 0, fanout: -1, batches: 2}"}) {
    const Planned made =
        planned({"model={kind: sage, layers: 2, hidden: 8}", "strategy={kind: granndis}", "placement.ranks=4",
                 "placement.ranksPerServer=2", std::string("strategy.granndis=") + options});
    for (std::size_t rank = 0; rank < 4; rank += 2) {
      const Index a = made.plan.ranks[rank].shape.arcs(), b = made.plan.ranks[rank + 1].shape.arcs();
      EXPECT_LT(double(std::max(a, b)), 1.15 * double(a + b) / 2) << options << ", rank " << rank;
    }
  }
}

/// Bytes of the blocks that `part` has by distance. A block of all the part's arcs uses the part's arrays.
Index near_bytes(const GraphPart& part, bool scales, bool places) {
  Index bytes = 0;
  for (const NearRows& near : part.near) {
    for (const PeerRows& peer : near.peers) bytes += 4 * Index(peer.send.size());
    const Index own = near.own.arcs.offsets[near.rows], outer = near.outer.arcs.offsets[near.rows];
    if (own == part.graph->own.arcs() && outer == part.graph->outer.arcs()) continue;
    bytes += 8 * (near.sources + 1) + 4 * own;                           // own arcs back
    bytes += 8 * (near.rows + 1) + 8 * (near.halo + 1) + 2 * 4 * outer;  // outer arcs there and back
    bytes += near.halo * (4 + 4 + (scales ? Index(sizeof(Real)) : 0));   // numbers, ids and scales
    if (places) bytes += 8 * (own + outer);                              // of transposed arcs
  }
  return bytes;
}

TEST(ServerPlans, MeasureTheShareThatARankTrainsOn) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 200, .arc_share = 0.01});
  for (const std::string model : {"gcn", "gat", "sage"}) {
    const Job job = small_job({"model={kind: " + model + ", layers: 3, hidden: 8}",
                               "strategy={kind: granndis}", "placement.ranks=4", "placement.ranksPerServer=2",
                               "strategy.granndis={maxHop: 2, fanout: -1}"});
    const Dataset dataset = Dataset::open(folder / "small");
    const auto prepared = PreparedGraph::make(dataset, partition_options(job, 4), graph_transforms(job),
                                              training_marks(dataset, job));
    const JobPlan plan = plan_job(job, dataset, prepared, {1, {1e9, 1e9, 1e9}, 1e9});
    run_ranks(4, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder / "small", 1);
      const GraphPart& part = rank.data.training_part();
      const RankShape& shape = plan.ranks[std::size_t(comm.rank())].shape;
      EXPECT_EQ(shape.copies, part.graph->owned - part.graph->counted);
      ASSERT_EQ(shape.near.size(), part.near.size());
      for (std::size_t behind = 0; behind < part.near.size(); ++behind) {
        const NearRows& near = part.near[behind];
        EXPECT_EQ(shape.near[behind].rows, near.rows);
        EXPECT_EQ(shape.near[behind].halo, near.halo);
        EXPECT_EQ(shape.near[behind].own_arcs, near.own.arcs.offsets[near.rows]);
        EXPECT_EQ(shape.near[behind].outer_arcs, near.outer.arcs.offsets[near.rows]);
      }
      EXPECT_EQ(shape.near_bytes, near_bytes(part, model == "gcn", model == "gat")) << model;
    });
  }
}

TEST(ServerPlans, SayWhatEachBatchTakes) {
  const std::vector<std::string> fields{"model={kind: sage, layers: 2, hidden: 64}",
                                        "strategy={kind: granndis}", "placement.ranks=4",
                                        "placement.ranksPerServer=2"};
  const auto in_batches = [&](int batches) {
    std::vector<std::string> all = fields;
    all.push_back(fmt::format("strategy.granndis={{maxHop: 0, fanout: -1, batches: {}}}", batches));
    return planned(all);
  };
  const Planned whole = in_batches(1), made = in_batches(4), many = in_batches(20);
  for (std::size_t s = 0; s < 2; ++s) {
    const ServerPlan& server = made.servers()[s];
    EXPECT_TRUE(whole.servers()[s].batches.empty());
    ASSERT_EQ(server.batches.size(), 4U);
    EXPECT_LT(server.own, whole.servers()[s].own / 2) << "of the largest batch";
    EXPECT_GT(server.own, 0);
    EXPECT_LT(std::ranges::max(server.batches), server.bytes);
    EXPECT_THAT(made.lines[s], HasSubstr("arcs in the largest of 4 batches: "));
  }
  EXPECT_THAT(made.text, HasSubstr("largest of 4 batches"));
  EXPECT_THAT(made.text, HasSubstr("  of it batch 4"));
  EXPECT_THAT(made.json, HasSubstr("\"batchBytes\":["));
  EXPECT_THAT(many.text, HasSubstr("  of it the largest batch"));
  EXPECT_EQ(many.text.find("of it batch"), std::string::npos) << "too many to list";
  EXPECT_EQ(whole.text.find("batch"), std::string::npos);
}

TEST(ServerPlans, AreOfServersWithCopiesAlone) {
  const Planned made = planned({"placement.ranks=4", "placement.ranksPerServer=2"});
  EXPECT_EQ(made.plan.section, nullptr);
  EXPECT_EQ(made.text.find("held by each server"), std::string::npos);
  EXPECT_EQ(made.json.find("servers"), std::string::npos);
}

TEST(ServerPlans, RefuseMoreBatchesThanTrainingVertices) {
  try {
    planned({"strategy.kind=granndis", "placement.ranks=4", "placement.ranksPerServer=2",
             "strategy.granndis.batches=199"});
    FAIL() << "planned";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("strategy.granndis.batches: 199 is more than the"));
  }
}

}  // namespace
}  // namespace atl
