#include "train/not_learning.h"

#include <gmock/gmock.h>

#include "train/checkpoint/killed_run.h"

namespace atl {
namespace {

using testing::HasSubstr;

std::vector<EpochRecord> losses(const std::vector<double>& each) {
  std::vector<EpochRecord> epochs;
  for (const double loss : each) {
    epochs.emplace_back();
    epochs.back().epoch = Index(epochs.size());
    epochs.back().loss = loss;
  }
  return epochs;
}

TEST(NotLearning, IsToldOfALossThatHasNotFallen) {
  const Job job = small_job({});
  EXPECT_THAT(not_learning(job, losses({2, 1.999, 2.1, 2, 2})), HasSubstr("hasn't fallen in 5 epochs"));
  EXPECT_EQ(not_learning(job, losses({2, 2.5, 1.9, 2, 2.2})), "");
  EXPECT_EQ(not_learning(job, {}), "");
}

TEST(NotLearning, NamesWhatIsLikeliestForTheManifest) {
  const auto told = [](const std::vector<std::string>& fields) {
    return not_learning(small_job(fields), losses({2, 2, 2, 2, 2}));
  };
  EXPECT_THAT(told({"training.optimizer.learningRate=0.5"}),
              HasSubstr(": lower training.optimizer.learningRate (0.5), or set model.norm: layer"));
  EXPECT_THAT(told({"training.optimizer.learningRate=0.00001", "model.norm=layer", "training.dropout=0.9"}),
              HasSubstr(": raise training.optimizer.learningRate (1e-05), or lower training.dropout (0.9)"));
}

/// Messages of a run.
class Listener final : public RunObserver {
 public:
  void on_message(MessageLevel, const std::string& text) override { told.push_back(text); }
  std::vector<std::string> told;
};

TEST(NotLearning, ARunSaysItOnce) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  SessionOptions o;
  o.job = small_job(
      {"training.epochs=20", "training.dropout=0", "training.optimizer={kind: sgd, learningRate: 1e-9}"});
  o.job_yaml = "small";
  o.dataset = folder / "small";
  o.output = folder / "run";
  std::filesystem::create_directories(o.output);
  const Dataset dataset = Dataset::open(o.dataset);
  PreparedGraph::make(dataset, partition_options(o.job, 1), graph_transforms(o.job),
                      training_marks(dataset, o.job));
  Listener listener;
  o.observer = &listener;
  run_ranks(1, [&](Communicator& comm) { run_session(comm, o); });
  EXPECT_THAT(listener.told,
              testing::ElementsAre(HasSubstr("raise training.optimizer.learningRate (1e-09)")));
}

}  // namespace
}  // namespace atl
