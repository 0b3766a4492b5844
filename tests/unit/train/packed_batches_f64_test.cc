// Mini-batches of features stored sparse or as bits: one batch of everything equals an epoch of strategy
// `graph` on the same data, for every model, however many ranks hold the rows or their columns, and whatever
// a cache keeps.
#include <gtest/gtest.h>

#include "train/every_model.h"
#include "train/part_data.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

constexpr int kEpochs = 3;

/// Sparse: few values in many columns, which a model multiplies sparse in batches as well. Bits: with arcs
/// enough that both read dense rows.
const SmallData kSparseData{.features = 600, .density = 0.01};
const SmallData kDenseBits{.features = 70, .arc_share = 0.3, .density = 0.4, .one_valued = true};

struct PackedCase {
  std::string name;
  std::vector<std::string> fields;
  SmallData data;
  FeatureForm stored, read;
};

std::ostream& operator<<(std::ostream& out, const PackedCase& c) {
  return out << c.name;
}

/// Sums over neighbours are what such a model multiplies, and they are dense.
bool sums_first(const SmallCase& c) {
  return find_model(small_job(c.fields).model.kind)->aggregates_first;
}

std::vector<PackedCase> cases() {
  std::vector<PackedCase> all;
  for (SmallCase each : every_model()) {
    // Batch norm's statistics are over other vertices: those that a batch computes.
    std::ranges::replace(each.fields, std::string("model.norm=batch"), std::string("model.norm=layer"));
    const FeatureForm read = sums_first(each) ? FeatureForm::kDense : FeatureForm::kSparse;
    all.push_back({each.name + "_sparse", each.fields, kSparseData, FeatureForm::kSparse, read});
    all.push_back({each.name + "_bits", each.fields, kDenseBits, FeatureForm::kBits, FeatureForm::kDense});
  }
  return all;
}

class PackedBatches : public testing::TestWithParam<PackedCase> {};

TEST_P(PackedBatches, OfEverythingAreEpochsOfTheGraph) {
  const PackedCase& c = GetParam();
  TemporaryFolder folder;
  write_small_data(folder / "small", c.data);
  const Dataset dataset = Dataset::open(folder / "small");
  ASSERT_EQ(dataset.meta().feature_form, c.stored);
  const SmallResult whole = train_small(small_job(c.fields), folder / "small", 1, kEpochs);
  int gathering = gathering_layers(small_job(c.fields).model);
  std::string fanout = "-1";
  while (--gathering > 0) fanout += ", -1";
  const std::vector<std::pair<std::string, std::string>> strategies{
      {"minibatch", ""},
      {"minibatch", ", cache: {bytes: 3000, policy: lru}"},
      {"minibatch", ", cache: {bytes: 100000, policy: degree}"},
      {"dgs", ", featureRate: 1, vertices: random"},
      {"p3", ", delay: 0"},
  };
  for (const auto& [kind, options] : strategies)
    for (const int ranks : {1, 3}) {
      SCOPED_TRACE(fmt::format("{}{}, {} ranks", kind, options, ranks));
      std::vector<std::string> fields = c.fields;
      fields.insert(fields.begin(),
                    {"strategy.kind=" + kind, fmt::format("strategy.{}={{fanout: [{}], batchSize: 100000{}}}",
                                                          kind, fanout, options)});
      fields.push_back("placement.ranks=" + std::to_string(ranks));
      const Job job = small_job(fields);
      ASSERT_EQ(kept_form(job, dataset.meta()), c.read);
      SmallResult batches = train_small(job, folder / "small", ranks, kEpochs);
      if (kind == "p3" && ranks > 1) batches.weights = whole.weights;  // a rank has those of its columns
      expect_same_training(whole, batches, "one batch of everything", 1e-9);
    }
}

/// Of so many features few have a value in a step's rows: the others' gradients don't cross, and training is
/// the same.
TEST(TouchedRows, CrossAloneAndChangeNothing) {
  TemporaryFolder folder;
  const SmallData data{.features = 6000, .density = 0.0005};
  write_small_data(folder / "small", data);
  for (const SmallCase& each : every_model()) {
    if (sums_first(each)) continue;  // sums have a value in most columns
    SCOPED_TRACE(each.name);
    std::vector<std::string> fields = each.fields;
    std::ranges::replace(fields, std::string("model.norm=batch"), std::string("model.norm=layer"));
    std::string fanout = "2";
    for (int more = gathering_layers(small_job(fields).model); more > 1; --more) fanout += ", 2";
    fields.insert(fields.begin(), {"strategy.kind=minibatch", "placement.partitioner={kind: range, parts: 3}",
                                   "strategy.minibatch={batchSize: 7, fanout: [" + fanout + "]}"});
    const SmallResult one = train_small(small_job(fields), folder / "small", 1, kEpochs);
    fields.push_back("placement.ranks=3");
    expect_same_training(one, train_small(small_job(fields), folder / "small", 3, kEpochs), "three ranks",
                         1e-9);
    std::int64_t sent = 0;
    run_ranks(3, [&](Communicator& comm) {
      SmallRank rank(comm, small_job(fields), folder / "small", 1);
      const std::int64_t before = comm.ledger().bytes(Link::kIntra, Traffic::kGradient);
      rank.trainer->train_step(1, 0.01);
      if (comm.rank() == 0) sent = comm.ledger().bytes(Link::kIntra, Traffic::kGradient) - before;
    });
    EXPECT_GT(sent, 0);
    EXPECT_LT(sent, data.features * 8 * Index(sizeof(Real)) / 4) << "of 6,000 rows of 8 and more";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PackedBatches, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
