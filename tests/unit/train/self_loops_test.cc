// The data's self-loops are neighbours like any others under sage, gin and resgcn (PyG's SAGEConv and
// GINConv, by plain loops), on any number of ranks. A manifest that an earlier run wrote says `model`, and
// its model computes what it did.
#include <gtest/gtest.h>

#include "job/load.h"
#include "strategies/schedule/strategy.h"
#include "train/small_job.h"

namespace atl {
namespace {

constexpr Index kVertices = 8, kFeatures = 4, kHidden = 5, kClasses = 2;
using Dense = std::vector<std::vector<double>>;

const std::vector<std::pair<VertexId, VertexId>> kArcs{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6},
                                                       {6, 7}, {7, 0}, {0, 4}, {2, 2}, {5, 5}};

double feature(Index vertex, Index column) {
  return 2 * Draws(9, Purpose::kGenerator).uniform_at(std::uint64_t(vertex), std::uint64_t(column)) - 1;
}

void write_data_with_loops(const std::filesystem::path& place) {
  WriterOptions options;
  options.name = "small";
  options.threads = 1;
  DatasetWriter writer(place, options);
  writer.set_vertices(kVertices);
  std::vector<VertexId> src, dst;
  for (const auto& [from, to] : kArcs) src.push_back(from), dst.push_back(to);
  writer.add_arcs(src, dst, {}, {});
  std::vector<float> x;
  for (Index v = 0; v < kVertices; ++v)
    for (Index c = 0; c < kFeatures; ++c) x.push_back(float(feature(v, c)));
  writer.begin_features(kFeatures);
  writer.add_features({x.data(), kVertices, kFeatures}, {});
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> split;
  for (Index v = 0; v < kVertices; ++v)
    labels.push_back(int(v % 2)), split.push_back(std::uint8_t(1 + v % 3));
  writer.set_labels(labels, int(kClasses), {});
  writer.add_split("default", {split.data(), kVertices, 1}, "small");
  writer.finish();
}

// ---- the definitions, in double precision

Dense features() {
  Dense x(kVertices, std::vector<double>(kFeatures));
  for (Index v = 0; v < kVertices; ++v)
    for (Index c = 0; c < kFeatures; ++c) x[std::size_t(v)][std::size_t(c)] = double(float(feature(v, c)));
  return x;
}

/// Over the arcs to each vertex, with or without those from itself.
Dense sum_of_neighbours(const Dense& x, bool loops, bool mean) {
  Dense sums(x.size(), std::vector<double>(x[0].size()));
  std::vector<double> degrees(x.size());
  for (const auto& [from, to] : kArcs) {
    if (from == to && !loops) continue;
    degrees[std::size_t(to)] += 1;
    for (std::size_t c = 0; c < x[0].size(); ++c) sums[std::size_t(to)][c] += x[std::size_t(from)][c];
  }
  for (std::size_t v = 0; v < x.size() && mean; ++v)
    for (double& each : sums[v]) each /= std::max(degrees[v], 1.0);
  return sums;
}

Dense add(const Dense& a, double factor, const Dense& b) {
  Dense sum = b;
  for (std::size_t v = 0; v < a.size(); ++v)
    for (std::size_t c = 0; c < a[v].size(); ++c) sum[v][c] += factor * a[v][c];
  return sum;
}

Dense relu(Dense x) {
  for (auto& row : x)
    for (double& each : row) each = std::max(each, 0.0);
  return x;
}

/// The model's parameters in their order: weights and biases.
struct Weights {
  Parameters& parameters;
  std::size_t next = 0;

  Dense take() {
    const Parameters::Entry& entry = parameters.entries()[next++];
    const Real* at = parameters.values().data() + entry.offset;
    Dense w(std::size_t(entry.rows));
    for (auto& row : w)
      for (Index c = 0; c < entry.count / entry.rows; ++c) row.push_back(double(*at++));
    return w;
  }
};

/// x · w, of rows [first, first + columns of x) of w.
Dense product(const Dense& x, const Dense& w, std::size_t first = 0) {
  Dense out(x.size(), std::vector<double>(w[0].size()));
  for (std::size_t v = 0; v < x.size(); ++v)
    for (std::size_t k = 0; k < x[v].size(); ++k)
      for (std::size_t c = 0; c < w[0].size(); ++c) out[v][c] += x[v][k] * w[first + k][c];
  return out;
}

Dense with_bias(Dense x, const Dense& bias) {
  for (auto& row : x)
    for (std::size_t c = 0; c < row.size(); ++c) row[c] += bias[0][c];
  return x;
}

/// x · W_self + mean · W_neighbours + b
Dense sage(const Dense& x, bool loops, Weights& w) {
  const Dense weight = w.take(), bias = w.take();
  return with_bias(
      add(product(x, weight), 1, product(sum_of_neighbours(x, loops, true), weight, x[0].size())), bias);
}

Dense expected(const std::string& kind, bool loops, Parameters& parameters) {
  Weights w{parameters};
  const Dense x = features();
  if (kind == "sage") return sage(x, loops, w);
  const auto linear = [&](const Dense& in) {
    const Dense weight = w.take();
    return with_bias(product(in, weight), w.take());
  };
  if (kind == "gin") return linear(relu(linear(add(x, 1.5, sum_of_neighbours(x, loops, false)))));
  const Dense encoded = linear(x);
  const Dense block = add(encoded, 1, sage(encoded, loops, w));
  return linear(relu(block));
}

struct Kind {
  std::string name;
  std::vector<std::string> fields;
};

class LoopsOfTheData : public testing::TestWithParam<Kind> {};

TEST_P(LoopsOfTheData, AreNeighboursUnlessTheRunBeganBefore) {
  TemporaryFolder folder;
  write_data_with_loops(folder / "small");
  for (const bool began_before : {false, true}) {
    for (const int ranks : {1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, began before: " << began_before);
      std::vector<std::string> fields = GetParam().fields;
      fields.push_back("model.layers=1"), fields.push_back("model.hidden=" + std::to_string(kHidden));
      fields.push_back("model.norm=none"), fields.push_back("placement.ranks=" + std::to_string(ranks));
      Job job = small_job(fields);
      if (!began_before) settle_self_loops(job);
      run_ranks(ranks, [&](Communicator& comm) {
        SmallRank rank(comm, job, folder / "small", 1);
        const Dense want = expected(job.model.kind, !began_before, rank.trainer->parameters());
        const ConstMatrixView got = rank.trainer->inference().infer();
        for (Index r = 0; r < got.rows; ++r)
          for (Index c = 0; c < got.cols; ++c)
            EXPECT_NEAR(got.at(r, c),
                        want[std::size_t(rank.data.owned_ids()[std::size_t(r)])][std::size_t(c)], 1e-5)
                << "vertex " << rank.data.owned_ids()[std::size_t(r)];
        comm.barrier();  // a rank that leaves answers no more
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, LoopsOfTheData,
                         testing::Values(Kind{"sage", {"model.kind=sage"}},
                                         Kind{"sage_minibatch",
                                              {"model.kind=sage", "strategy.kind=minibatch"}},
                                         Kind{"gin", {"model.kind=gin", "model.options={epsilon: 0.5}"}},
                                         Kind{"resgcn", {"model.kind=resgcn"}}),
                         [](const auto& one) { return one.param.name; });

/// dgs' star has one for each vertex where the graph has: by what the job says, not by the model alone.
TEST(LoopsOfAStar, FollowTheJob) {
  for (const auto& [given, wanted] :
       {std::pair("add", SelfLoops::kAdd), {"remove", SelfLoops::kRemove}, {"keep", SelfLoops::kKeep}}) {
    const Job job = small_job({"model.kind=sage", std::string("dataset.selfLoops=") + given});
    EXPECT_EQ(job_model(job, {}, 3).needs.self_loops, wanted);
  }
}

/// Data without self-loops are prepared once for both.
TEST(LoopsThatAreNotThere, NeedNoOtherGraph) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Dataset dataset = Dataset::open(folder / "small");
  Job before = small_job({"model.kind=sage"}), now = before;
  settle_self_loops(now);
  const auto folder_of = [&](const Job& job) {
    return PreparedGraph::make(dataset, partition_options(job, 1), graph_transforms(job),
                               training_marks(dataset, job))
        .folder();
  };
  EXPECT_EQ(folder_of(before), folder_of(now));
  now.dataset.self_loops = SelfLoops::kAdd;
  EXPECT_NE(folder_of(before), folder_of(now));
}

}  // namespace
}  // namespace atl
