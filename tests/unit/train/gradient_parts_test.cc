// Where a layer's gradient comes in parts (ParameterSpec::parts), each part is final when the schedule hears
// of it: its sum over ranks begins then, in the same memory.
#include <gtest/gtest.h>

#include "train/small_job.h"

namespace atl {
namespace {

/// Keeps each part as it was when it was told of, and what became of it.
class PartsTold final : public TrainingStep {
 public:
  PartsTold(Context& ctx, const Job& job, const RankData& data, Parameters& parameters)
      : loss_(ctx, job, data), parameters_(parameters) {}

  struct Part {
    int layer, part;
    std::vector<Real> told, left;
  };
  std::vector<Part> parts;

  void loss(ConstMatrixView logits, const LossRows& rows, MatrixView d_logits) override {
    loss_.loss(logits, rows, d_logits);
  }
  void part_done(int layer, int part) override { parts.push_back({layer, part, rows_of(layer, part), {}}); }
  void layer_done(int layer) override {
    for (Part& each : parts)
      if (each.layer == layer) each.left = rows_of(layer, each.part);
  }
  void update() override {}

 private:
  /// Of the layer's first parameter.
  std::vector<Real> rows_of(int layer, int part) {
    for (const Parameters::Entry& e : parameters_.entries()) {
      if (e.layer != layer) continue;
      const auto begin = parameters_.gradients().begin() + e.offset + e.spec.part_begin(part) * e.spec.cols;
      return {begin, begin + e.spec.part_rows(part) * e.spec.cols};
    }
    return {};
  }

  LossOnly loss_;
  Parameters& parameters_;
};

struct PartsCase {
  SmallCase model;
  int layer;  // whose gradient comes in parts
  std::vector<int> told;
};

std::ostream& operator<<(std::ostream& out, const PartsCase& c) {
  return out << c.model;
}

class GradientParts : public testing::TestWithParam<PartsCase> {};

TEST_P(GradientParts, AreWholeWhenTheyAreTold) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().model.data);
  for (const char* strategy : {"graph", "pipegcn", "cagnet", "bns"}) {
    std::vector<std::string> fields = GetParam().model.fields;
    fields.push_back(fmt::format("strategy.kind={}", strategy));
    const Job job = small_job(fields);
    run_ranks(3, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder / "small", 1);
      RankData fresh(job, rank.dataset, rank.prepared, comm.rank());  // the trainer has released its features
      fresh.count(comm);
      const Model& model = rank.trainer->model();
      Parameters parameters(model.parameters(), 3);
      const auto schedule = make_schedule(
          {rank.ctx, comm, job, model, parameters, fresh.training_part(), fresh.training_vertices(), false});
      PartsTold step(rank.ctx, job, fresh, parameters);
      schedule->train(1, step);
      std::vector<int> told;
      for (const PartsTold::Part& each : step.parts) {
        EXPECT_EQ(each.layer, GetParam().layer) << strategy;
        EXPECT_FALSE(each.told.empty()) << strategy;
        EXPECT_EQ(each.told, each.left) << strategy << ", part " << each.part;
        told.push_back(each.part);
      }
      EXPECT_EQ(told, GetParam().told) << strategy << ", rank " << comm.rank();
    });
  }
}

// Half of the own rows' weight, the neighbours', the other half.
const std::vector<int> kSageOrder{0, 1, 4, 5, 6, 7, 2, 3};
const SmallCase kSageRaw{"sage_raw", {"model.kind=sage", "training.inputDropout={rate: 0.3}"}};
const SmallCase kSageWide{
    "sage_wide", {"model.kind=sage", "training.inputDropout={rate: 0.3}"}, {.features = 20}};
const SmallCase kSageBits{"sage_bits", {"model.kind=sage"}, kBitData};

INSTANTIATE_TEST_SUITE_P(
    Models, GradientParts,
    testing::Values(PartsCase{kSageRaw, 0, kSageOrder}, PartsCase{kSageWide, 0, kSageOrder},
                    PartsCase{kSageBits, 0, kSageOrder},
                    PartsCase{{"sage", {"model.kind=sage"}}, 1, {0, 1, 2, 3}},
                    PartsCase{{"gcn", {"training.dropout=0.5"}}, 1, {0, 1, 2, 3}},
                    PartsCase{{"gcnii_dropped", {"model.kind=gcnii", "training.inputDropout={rate: 0.3}"}},
                              0,
                              {0, 1, 2, 3}},
                    PartsCase{{"gcn_raw", {"training.inputDropout={rate: 0.3}"}}, -1, {}}),
    [](const auto& c) { return c.param.model.name; });

}  // namespace
}  // namespace atl
