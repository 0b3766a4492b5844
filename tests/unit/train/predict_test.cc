// `atoll predict` gives what the run itself predicted at its end, however it was trained.
#include "train/predict.h"

#include <gtest/gtest.h>

#include "job/write.h"
#include "train/session.h"
#include "train/small_job.h"

namespace atl {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> fields;
  SmallData data = {};
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

struct KeepRecord final : RunObserver {
  void on_result(const RunRecord& run) override { record = run; }
  RunRecord record;
};

class Predict : public testing::TestWithParam<Case> {};

TEST_P(Predict, IsWhatTheRunPredicted) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  Job job = small_job(GetParam().fields);
  job.training.epochs = 4;
  const Dataset dataset = Dataset::open(folder / "small");
  PreparedGraph::make(dataset, partition_options(job, 1), graph_transforms(job),
                      training_marks(dataset, job));
  std::filesystem::create_directories(folder / "run");
  KeepRecord kept;
  run_ranks(1, [&](Communicator& comm) {
    SessionOptions o;
    o.job = job;
    o.job_yaml = write_job(job);
    o.dataset = folder / "small";
    o.output = folder / "run";
    o.observer = &kept;
    run_session(comm, o);
  });
  const Evaluation e = predict({folder / "run", folder / "small", folder / "predicted", 2});
  EXPECT_EQ(e.test, kept.record.test);
  EXPECT_EQ(e.validation, kept.record.validation);
  for (const char* file : {"predictions.npy", "embeddings.npy"})
    EXPECT_EQ(read_bytes(folder / "predicted" / file), read_bytes(folder / "run" / file)) << file;
}

INSTANTIATE_TEST_SUITE_P(
    Models, Predict,
    testing::Values(Case{"gcn", {}}, Case{"gcn_recompute", {"training.recompute=layer"}},
                    Case{"gcn_inductive_batch_norm", {"training.setting=inductive", "model.norm=batch"}},
                    Case{"sage_sparse", {"model.kind=sage"}, {.density = 0.15}},
                    Case{"sage_bits", {"model.kind=sage"}, kBitData}, Case{"gcnii", {"model.kind=gcnii"}},
                    Case{"resgcn", {"model.kind=resgcn", "model.norm=batch"}},
                    Case{"multi_label",
                         {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
                         {.multi_label = true}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
