// Strategy `granndis` with its default, a sample of what servers' vertices depend on, compared with dense
// matrices and plain loops: separate subgraphs of the servers, found by a plain search, with the subgraphs'
// degrees (float64).
#include <gtest/gtest.h>

#include "partition/server_search.h"
#include "train/stale_gcn.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

/// Of all servers in dense form: a vertex is there once for each server that holds it, and its loss counts
/// where it is own.
struct SampledServers : StaleGcn {
  ArcsById arcs;
  std::vector<std::set<VertexId>> own;  // by server
  Dense all_features;                   // (vertices of the data set)
  std::vector<int> all_labels;
  SearchOptions search;
  bool redraws = false;
  std::vector<std::size_t> rows_of_epochs;  // held by all servers together

  void begin_epoch() override {
    if (epoch == 0 || redraws) draw(std::uint64_t(redraws ? epoch + 1 : 0));
    StaleGcn::begin_epoch();
  }

 private:
  void draw(std::uint64_t of) {
    search.epoch = of;
    std::vector<HeldByServer> servers;
    std::size_t rows = 0;
    for (const std::set<VertexId>& each : own) {
      servers.push_back(search_server(arcs, each, search));
      rows += servers.back().all.size();
    }
    adjacency = zeros(rows, rows);
    part.assign(rows, 0);
    features.clear(), labels.clear();
    for (const HeldByServer& server : servers) put(server);
    stale_rows.clear(), stale_gradients.clear();  // of other parts, of which there are none
    for (const Dense& each : weight)
      stale_rows.push_back({zeros(rows, each.size())}), stale_gradients.push_back({zeros(rows, each.size())});
    rows_of_epochs.push_back(rows);
  }
  void put(const HeldByServer& server) {
    std::map<VertexId, std::size_t> place;
    for (const VertexId v : server.all) {
      place[v] = features.size();
      features.push_back(all_features[std::size_t(v)]);
      labels.push_back(server.own.contains(v) ? all_labels[std::size_t(v)] : -1);
    }
    for (const auto& [v, reads] : server.arcs)
      for (const auto& [other, own_weight] : reads)
        adjacency[place[v]][place[other]] = own_weight / std::sqrt(server.degree(v) * server.degree(other));
  }
};

class SampledCopies : public Recurrence {
 protected:
  /// As many hops and copies as the job's options say, read anew here: maxHop 0 is as far as the copies'
  /// layers reach.
  SampledServers dense(const Job& job, int together) const {
    SampledServers gcn;
    const Dataset data = Dataset::open(folder_ / "small");
    StaleGcn whole;
    fill_graph(whole, data);
    gcn.all_features = whole.features, gcn.all_labels = whole.labels;
    gcn.arcs = arcs_by_id(data, true);
    gcn.learning_rate = job.training.optimizer.learning_rate, gcn.staleness = 0;
    const Options& options = job.strategy.options;
    const auto hops = int(options.integer("maxHop"));
    gcn.search = {hops == 0 ? 3 : hops, int(options.integer("fanout")), job.training.seed, 0};
    gcn.redraws = options.text("redraw") == "epoch";
    gcn.own.resize(std::size_t(job.placement.ranks / together));
    std::mutex lock;
    run_ranks(job.placement.ranks, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder_ / "small", 1);
      const std::lock_guard guard(lock);
      const LocalGraph& graph = *rank.data.part().graph;
      gcn.own[std::size_t(comm.rank() / together)].insert(graph.ids.begin(), graph.ids.begin() + graph.owned);
      if (comm.rank() == 0) copy_weights(gcn, rank.trainer->parameters());
    });
    return gcn;
  }
};

TEST_P(SampledCopies, LearnWhatDenseSubgraphsLearn) {
  std::vector<std::string> fields = GetParam().fields;
  const std::string options = fields.back();
  fields.back() = "training={dropout: 0, optimizer: {kind: sgd, learningRate: 0.5}}";
  for (const auto& [ranks, together] : {std::pair{2, 1}, {4, 2}, {3, 1}, {6, 3}}) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks, " << together << " a server");
    const Job job = granndis_job(fields, ranks, together, options, "hash");
    SampledServers expected = dense(job, together);
    for (const std::set<VertexId>& each : expected.own) ASSERT_FALSE(each.empty());
    expect_equal(expected, job, ranks, 5);
    EXPECT_EQ(expected.rows_of_epochs.size(), expected.redraws ? 5U : 1U);
  }
}

INSTANTIATE_TEST_SUITE_P(Options, SampledCopies,
                         testing::Values(SmallCase{"one_of_one_hop", {"{maxHop: 1, fanout: 1}"}},
                                         SmallCase{"by_default_of_two", {"{fanout: 2}"}},
                                         SmallCase{"two_hops", {"{maxHop: 2, fanout: 1}"}},
                                         SmallCase{"two_hops_of_two", {"{maxHop: 2, fanout: 2}"}},
                                         SmallCase{"as_far_as_layers", {"{maxHop: 0, fanout: 1}"}},
                                         SmallCase{"all_of_one_hop", {"{maxHop: 1, fanout: -1}"}},
                                         SmallCase{"redrawn", {"{maxHop: 1, fanout: 1, redraw: epoch}"}},
                                         SmallCase{"two_hops_redrawn",
                                                   {"{maxHop: 2, fanout: 1, redraw: epoch}"}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
