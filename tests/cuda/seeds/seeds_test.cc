// Late streams on emulated GPUs in ten orders, or as many as LATE_STREAMS says, for six pairs of a model and
// a strategy. All give the same bits, with rows sent by way of the host and over NCCL in turn.
#include <cstdlib>

#include "gpu_training.h"
#include "train/every_model.h"

namespace atl::test {
namespace {

constexpr int kEpochs = 2;

int seeds() {
  const char* asked = std::getenv("LATE_STREAMS");
  return asked == nullptr ? 10 : std::atoi(asked);
}

struct Pair {
  std::string model, strategy;
};
std::ostream& operator<<(std::ostream& out, const Pair& pair) {
  return out << pair.model << " under " << pair.strategy;
}

template <class Case>
const Case& named(const std::vector<Case>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Case::name);
  if (found == all.end()) throw std::runtime_error("no case " + name);
  return *found;
}

class EverySeed : public OnEmulatedGpus, public testing::WithParamInterface<Pair> {};

TEST_P(EverySeed, ComesToTheSameBits) {
  const Pair& pair = GetParam();
  const std::vector<SmallCase> models = every_model();
  const std::vector<StrategyCase> strategies = every_strategy();
  const SmallCase& model = named(models, pair.model);
  write_small_data(folder_ / "small", model.data);
  const Job job = job_of(model, named(strategies, pair.strategy));
  std::optional<SmallResult> first;
  for (int seed = 1; seed <= seeds(); ++seed) {
    SCOPED_TRACE(seed);
    emulated::set_seed(std::uint64_t(seed) * 1000);
    const Gpus gpus = seed % 2 == 0 ? Gpus::kOwn : Gpus::kShared;
    const SmallResult result = train_on_gpu(job, folder_ / "small", gpus, kEpochs);
    if (!first) first = result;
    ASSERT_EQ(result.losses, first->losses);
    ASSERT_EQ(result.validation_loss, first->validation_loss);
    ASSERT_EQ(result.weights, first->weights);
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, EverySeed,
                         testing::Values(Pair{"gcn", "graph"}, Pair{"sage", "pipegcn"}, Pair{"gcn", "cagnet"},
                                         Pair{"gcnii", "gnnpipe"}, Pair{"sage", "minibatch"},
                                         Pair{"gat", "p3"}),
                         [](const auto& one) { return one.param.model + "_" + one.param.strategy; });

}  // namespace
}  // namespace atl::test
