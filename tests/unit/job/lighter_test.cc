// What a strategy proposes where a job holds too much (StrategyInfo::lighter): the most that fits, whatever "fits" means.
#include <gtest/gtest.h>

#include "job/load.h"
#include "job/strategies.h"
#include "job/strategies/granndis.h"

namespace atl {
namespace {

std::string proposed(const std::string& options, FunctionRef<bool(const Expansion&)> fits,
                     int* asked = nullptr) {
  const std::string manifest =
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
      "  model: {kind: gcn, layers: 3, hidden: 8}\n  strategy: {kind: granndis, granndis: " +
      options + "}\n";
  const Job job = parse_job(manifest, "small.yaml", {}).job;
  return find_strategy("granndis")->lighter(job, [&](const Job& other) {
    if (asked != nullptr) ++*asked;
    return fits(expansion_of(other));
  });
}

TEST(LighterServers, TakeTheMostCopiesOfAVertexThatFit) {
  const auto up_to_seven = [](const Expansion& e) { return e.fanout >= 0 && e.fanout <= 7; };
  EXPECT_EQ(proposed("{maxHop: 2, fanout: 15}", up_to_seven), "strategy.granndis: {maxHop: 2, fanout: 7}");
  EXPECT_EQ(proposed("{maxHop: 0, fanout: -1}", up_to_seven), "strategy.granndis: {maxHop: 3, fanout: 7}");
  const auto up_to_one = [](const Expansion& e) { return e.fanout == 1; };
  EXPECT_EQ(proposed("{maxHop: 1, fanout: 2}", up_to_one), "strategy.granndis: {maxHop: 1, fanout: 1}");
}

TEST(LighterServers, TakeFewerHopsWhereNoFanoutFits) {
  const auto one_hop = [](const Expansion& e) { return e.max_hop == 1; };
  EXPECT_EQ(proposed("{maxHop: 0, fanout: -1}", one_hop),
            "strategy.granndis: {hops: 1, maxHop: 0, fanout: -1} or {maxHop: 1, fanout: -1}");
  const auto one_small_hop = [](const Expansion& e) {
    return e.max_hop == 1 && e.fanout >= 0 && e.fanout < 100;
  };
  EXPECT_EQ(proposed("{maxHop: 3, fanout: -1}", one_small_hop), "strategy.granndis: {maxHop: 1, fanout: 99}");
}

/// Fewer layers that read copies give the same result, so they come first; a sample gives another one.
TEST(LighterServers, ReadCopiesInFewerLayersWhereThatIsExact) {
  const auto one_layer = [](const Expansion& e) { return e.hops == 1; };
  EXPECT_EQ(proposed("{maxHop: 0, fanout: -1}", one_layer),
            "strategy.granndis: {hops: 1, maxHop: 0, fanout: -1}");
  const auto two_hops = [](const Expansion& e) { return e.hops <= 2 && e.max_hop <= 2; };
  EXPECT_EQ(proposed("{maxHop: 0, fanout: -1}", two_hops),
            "strategy.granndis: {hops: 2, maxHop: 0, fanout: -1}");
  const auto either = [](const Expansion& e) { return e.hops == 1 || (e.fanout >= 0 && e.fanout <= 5); };
  EXPECT_EQ(proposed("{maxHop: 3, fanout: -1}", either),
            "strategy.granndis: {hops: 1, maxHop: 0, fanout: -1} or {maxHop: 3, fanout: 5}");
  EXPECT_EQ(proposed("{maxHop: 1, fanout: 15}", one_layer), "") << "of a sample, it is another result";
}

TEST(LighterServers, TrainInBatchesWhereThatFits) {
  const auto four = [](const Expansion& e) { return e.batches >= 4; };
  EXPECT_EQ(proposed("{maxHop: 1, fanout: 15}", four), "strategy.granndis: {batches: 4}");
  EXPECT_EQ(proposed("{maxHop: 1, fanout: 15, batches: 3}", four), "strategy.granndis: {batches: 6}")
      << "more of them, not fewer";
  EXPECT_EQ(proposed("{hops: 1, maxHop: 0, fanout: -1}", four), "") << "layers behind read whole servers";
}

TEST(LighterServers, ProposeNothingThatDoesNotFit) {
  int asked = 0;
  EXPECT_EQ(proposed(
                "{maxHop: 3, fanout: 15}", [](const Expansion&) { return false; }, &asked),
            "");
  EXPECT_LE(asked, 12) << "each is a plan of the whole job";
  EXPECT_EQ(find_strategy("graph")->lighter, nullptr);
}

}  // namespace
}  // namespace atl
