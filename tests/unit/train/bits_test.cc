// Every model under every strategy, at every vector level of this machine: the bits of losses, metrics and
// weights equal those in tests/data/bits.txt. After changing a sum's order on purpose, write them again:
//   ATOLL_WRITE_BITS=tests/data/bits.txt build/tests/test_train --gtest_filter='*Bits.*'
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "job/strategies.h"
#include "tensor/cpu/simd/loops.h"
#include "train/every_model.h"
#include "where.h"

namespace atl {
namespace {

constexpr int kEpochs = 3;
constexpr const char* kLevels[] = {"baseline", "avx2", "avx512", "avx512bf16", "amx"};
constexpr const char* kUnknown = "-";  // of a level that the machine hadn't on which they were written

/// FNV-1a over the bytes of values.
class Hash {
 public:
  void add(double value) { add_bits(std::bit_cast<std::uint64_t>(value), 8); }
  void add(float value) { add_bits(std::bit_cast<std::uint32_t>(value), 4); }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  void add_bits(std::uint64_t bits, int bytes) {
    for (int byte = 0; byte < bytes; ++byte) hash_ = (hash_ ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3ULL;
  }
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

std::string hash_of(const SmallResult& result) {
  Hash hash;
  for (const double loss : result.losses) hash.add(loss);
  hash.add(result.validation);
  hash.add(result.validation_loss);
  for (const Real weight : result.weights) hash.add(weight);
  return hash.text();
}

using Table =
    std::map<std::string, std::map<std::string, std::string>>;  // "gcn under pipegcn" → level → hash

Table read_table(const std::filesystem::path& path) {
  Table table;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string model, strategy, hash;
    words >> model >> strategy;
    for (const char* level : kLevels)
      if (words >> hash && hash != kUnknown) table[model + " " + strategy][level] = hash;
  }
  return table;
}

void write_table(const Table& table, const std::filesystem::path& path) {
  std::ofstream file(path);
  for (const auto& [name, hashes] : table) {
    file << name;
    for (const char* level : kLevels) file << ' ' << (hashes.contains(level) ? hashes.at(level) : kUnknown);
    file << '\n';
  }
}

/// The last two levels differ from the one before in products of halves alone.
std::vector<StrategyCase> cases_at(const std::string& level) {
  std::vector<StrategyCase> all;
  if (level != "avx512bf16" && level != "amx") all = every_strategy();
  all.push_back({"graph_in_halves", 2, {"training.precision=bfloat16"}});
  return all;
}

class Bits : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  void TearDown() override { simd::use(before_); }
  TemporaryFolder folder_;

 private:
  const simd::Table& before_ = simd::loops();
};

TEST_P(Bits, AreThoseThatAreStored) {
  const char* const writes = std::getenv("ATOLL_WRITE_BITS");
  const std::filesystem::path path = writes ? writes : source_folder() / "tests/data/bits.txt";
  Table stored = read_table(path);
  for (const char* level : kLevels) {
    const simd::Table* table = simd::table_named(level);
    if (!table) continue;
    simd::use(*table);
    for (const StrategyCase& strategy : cases_at(level)) {
      const Job job = job_of(GetParam(), strategy);
      const std::string hash = hash_of(train_small(job, folder_ / "small", strategy.ranks, kEpochs));
      std::string& expected = stored[GetParam().name + " " + strategy.name][level];
      if (writes)
        expected = hash;
      else
        EXPECT_EQ(hash, expected) << GetParam().name << " under " << strategy.name << ", " << level
                                  << (expected.empty() ? " (a new case: write tests/data/bits.txt)" : "");
    }
  }
  if (writes) write_table(stored, path);
}

/// A strategy that is missing there would be tested on no device, and not in halves.
TEST(EveryStrategy, HasEachOfTheTable) {
  std::set<std::string> tested{"auto"};  // chooses one of the others
  for (const StrategyCase& each : every_strategy())
    tested.insert(job_of(every_model().front(), each).strategy.row->kind);
  for (const StrategyInfo& info : strategy_infos()) {
    if (!std::filesystem::exists(source_folder() / "engine/strategies" / info.kind))
      continue;  // a test's own
    EXPECT_TRUE(tested.contains(info.kind)) << info.kind << " has no case in every_strategy()";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Bits, testing::ValuesIn(every_model()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl
