// The batch axis of the seam: one batch of all training vertices with all their neighbours equals a step of
// strategy `graph`, on any number of ranks with several parts each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sampler/feature_store.h"
#include "sampler/sampler.h"
#include "sampler/seeds.h"
#include "strategies/schedule/batch_pass.h"
#include "train/every_model.h"

namespace atl {
namespace {

constexpr int kParts = 6;

struct Step {
  double loss = 0;
  std::vector<Real> gradient;
};

/// What all ranks need of the data set: features, and labels of training vertices, by vertex.
struct Vertices {
  std::map<VertexId, std::vector<Real>> features;
  std::map<VertexId, std::int32_t> training;
};

/// Of strategy `graph`, on one rank.
Step whole_step(const Job& job, const std::filesystem::path& data, Vertices& vertices) {
  Step whole;
  run_ranks(1, [&](Communicator& comm) {
    SmallRank rank(comm, job, data, 1);
    RankData fresh(job, rank.dataset, rank.prepared, 0);  // the trainer has released its features
    const Model& model = rank.trainer->model();
    Parameters parameters(model.parameters(), job.training.seed);
    auto schedule = make_schedule({rank.ctx, comm, job, model, parameters, fresh.training_part(),
                                   rank.data.training_vertices(), false});
    LossOnly step(rank.ctx, job, fresh);
    schedule->train(1, step);
    whole.loss = step.value;
    whole.gradient.assign(parameters.gradients().begin(), parameters.gradients().end());
    const GraphPart& part = fresh.training_part();
    for (Index row = 0; row < part.graph->owned; ++row) {
      const Real* features = part.features.dense.row(row);
      vertices.features[part.graph->ids[std::size_t(row)]].assign(features, features + part.features.cols());
    }
    for (const VertexId row : fresh.training_rows())
      vertices.training[part.graph->ids[std::size_t(row)]] =
          fresh.training_labels().classes[std::size_t(row)];
  });
  return whole;
}

/// The same as one batch, of which each rank computes the seeds of its parts.
Step batch_step(const Job& job, const std::filesystem::path& data, const Vertices& vertices, int ranks,
                bool is_mapped) {
  Step all;
  run_ranks(ranks, [&](Communicator& comm) {
    ThreadPool pool(1);
    Workspace workspace;
    Context ctx{Device::kCpu, &pool, &workspace};
    const Dataset dataset = Dataset::open(data);
    const PreparedGraph prepared = PreparedGraph::make(dataset, partition_options(job, kParts),
                                                       graph_transforms(job), training_marks(dataset, job));
    const Owners owners(prepared.part_offsets(), ranks);
    const auto ids = prepared.ids();
    const auto features = Index(vertices.features.begin()->second.size());
    Matrix own(owners.rows(comm.rank()), features);
    for (Index row = 0; row < own.rows(); ++row)
      std::ranges::copy(vertices.features.at(ids[std::size_t(owners.first_row(comm.rank()) + row)]),
                        own.view().row(row));
    const Model model = make_model(job.model, job.training, {features, 3, false, DropsOut::kMakers});
    std::vector<int> fanout;
    for (const auto& layer : model.layers)
      if (layer->spec().gathers) fanout.push_back(-1);
    const DrawnGraph graph = drawn_graph(prepared, false, false);
    const auto structure =
        is_mapped ? mapped_structure(graph, pool) : partitioned_structure(graph, owners, comm, pool);
    Sampler sampler(*structure, {.fanout = fanout,
                                 .normalisation = model.needs.normalisation,
                                 .attention = model.needs.attention,
                                 .seed = job.training.seed});
    std::vector<VertexId> seeds;
    for (Index row = owners.first_row(comm.rank()); row < owners.first_row(comm.rank()) + own.rows(); ++row)
      if (vertices.training.contains(ids[std::size_t(row)])) seeds.push_back(VertexId(row));
    Batch batch;
    sampler.sample(0, seeds, batch);
    FeatureStore store(ctx, owners, comm, std::as_const(own).view());
    FeatureRows inputs;
    store.fetch(batch.rows(), inputs);
    Parameters parameters(model.parameters(), job.training.seed);
    const LayerRange layers{0, int(model.layers.size())};
    BatchPass pass(ctx, model, layers, job.training.seed);
    PassMemory memory(Device::kCpu, model, layers, Passes::kTraining);
    const LayerRunner runner(ctx, model, nullptr);
    pass.begin(batch, 1, true);
    memory.shape(pass.rows());
    const RangeInput input{inputs.rows(), {}};
    runner.forward(pass, parameters.present(), memory, input);
    std::vector<std::int32_t> labels;
    std::vector<VertexId> rows;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      labels.push_back(vertices.training.at(batch.ids()[i]));
      rows.push_back(VertexId(i));
    }
    double loss = 0;
    cross_entropy(ctx, memory.output(memory.layers().end - 1), labels.data(), rows, 1, memory.d_output(),
                  &loss);
    runner.backward(pass, parameters.present(), memory, input, {}, nullptr);
    comm.all_reduce(Traffic::kGradient, parameters.gradients());
    comm.all_reduce(Traffic::kStatistics, std::span<double>(&loss, 1));
    if (comm.rank() == 0) all = {loss, {parameters.gradients().begin(), parameters.gradients().end()}};
  });
  return all;
}

class BatchAxis : public testing::TestWithParam<SmallCase> {};

TEST_P(BatchAxis, OneBatchOfEverythingIsAStepOfTheWholeGraph) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  std::vector<std::string> fields = GetParam().fields;
  // Batch norm's statistics are over other vertices: those that a batch computes.
  std::ranges::replace(fields, std::string("model.norm=batch"), std::string("model.norm=none"));
  const Job job = small_job(fields);
  Vertices vertices;
  const Step whole = whole_step(job, folder / "small", vertices);
  for (const int ranks : {1, 2, 3, 5}) {
    for (const bool is_mapped : {true, false}) {
      SCOPED_TRACE(fmt::format("{} ranks, structure {}", ranks, is_mapped ? "mapped" : "partitioned"));
      const Step batch = batch_step(job, folder / "small", vertices, ranks, is_mapped);
      EXPECT_NEAR(batch.loss / whole.loss, 1, 1e-9);
      ASSERT_EQ(batch.gradient.size(), whole.gradient.size());
      double size = 0;
      for (const Real each : whole.gradient) size = std::max(size, std::abs(double(each)));
      for (std::size_t i = 0; i < whole.gradient.size(); ++i)
        ASSERT_NEAR(batch.gradient[i] / size, whole.gradient[i] / size, 1e-9) << "element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, BatchAxis, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
