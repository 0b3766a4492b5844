// Checks an edge split, and leaves out edges that are there twice.
#include "dataset/splits.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace atl {
namespace {

/// A pair as a number, which sorts like the pair.
std::uint64_t key_of(const VertexPair& pair) {
  return std::uint64_t(std::uint32_t(pair[0])) << 32 | std::uint32_t(pair[1]);
}
VertexPair reverse_of(const VertexPair& pair) {
  return {pair[1], pair[0]};
}

/// Pairs as numbers, ascending.
class Keys {
 public:
  void add(const std::vector<VertexPair>& pairs) {
    for (const VertexPair& pair : pairs) keys_.push_back(key_of(pair));
    std::ranges::sort(keys_);
  }
  bool contains(const VertexPair& pair) const { return std::ranges::binary_search(keys_, key_of(pair)); }

 private:
  std::vector<std::uint64_t> keys_;
};

void check_ids(const EdgeSplit& split, Index vertices, const std::string& source) {
  for (int s = 0; s < kPairSets; ++s) {
    const auto& pairs = split.pairs[std::size_t(s)];
    for (std::size_t i = 0; i < pairs.size(); ++i)
      for (const VertexId id : pairs[i])
        if (id < 0 || id >= vertices)
          fail("{}: {}, row {}: {} is no vertex; allowed are ids 0 … {}: correct it", source,
               to_string(PairSet(s)), i, id, vertices - 1);
  }
}

/// Checks that every pair occurs once, in one set, and that no edge is a loop.
void check_overlap(const EdgeSplit& split, const std::string& source) {
  std::vector<std::pair<std::uint64_t, int>> all;
  for (int s = 0; s < kPairSets; ++s)
    for (const VertexPair& pair : split.pairs[std::size_t(s)]) {
      if (pair[0] == pair[1] && is_of_edges(PairSet(s)))
        fail("{}: {}: ({}, {}) joins a vertex to itself; leave it out", source, to_string(PairSet(s)),
             pair[0], pair[1]);
      all.emplace_back(key_of(pair), s);
    }
  std::ranges::sort(all);
  const auto twice = std::ranges::adjacent_find(all, {}, &std::pair<std::uint64_t, int>::first);
  if (twice == all.end()) return;
  const auto one = PairSet(twice->second), other = PairSet(std::next(twice)->second);
  const auto from = VertexId(twice->first >> 32), to = VertexId(twice->first & 0xffffffffu);
  if (one == other)
    fail("{}: ({}, {}) is in the {} twice; give each pair once", source, from, to, to_string(one));
  fail("{}: ({}, {}) is in the {} and in the {}; a pair belongs to one of them", source, from, to,
       to_string(one), to_string(other));
}

/// The order of sets in which a pair is looked for: the first set that has it keeps it.
constexpr std::array kKept{PairSet::kTest, PairSet::kValidation, PairSet::kTrain, PairSet::kTestNegative,
                           PairSet::kValidationNegative};

void count(PairSet set, bool again, LeftOut& left) {
  if (!is_of_edges(set))
    ++left.negatives;
  else if (set != PairSet::kTrain)
    ++left.measured;
  else
    ++(again ? left.again : left.held_out);
}

LeftOut leave_out(EdgeSplit& split) {
  LeftOut left;
  Keys before;  // pairs of the earlier sets
  for (const PairSet set : kKept) {
    Keys own;
    own.add(split.of(set));
    std::erase_if(split.of(set), [&](const VertexPair& pair) {
      const VertexPair reverse = reverse_of(pair);
      const bool elsewhere = before.contains(reverse),
                 again = !elsewhere && pair[0] > pair[1] && own.contains(reverse);
      if (elsewhere || again) count(set, again, left);
      return elsewhere || again;
    });
    before.add(split.of(set));
  }
  return left;
}

}  // namespace

const char* to_string(PairSet set) {
  constexpr const char* kNames[] = {"training edges (train_pos)", "validation edges (val_pos)",
                                    "test edges (test_pos)", "validation's negative pairs (val_neg)",
                                    "test's negative pairs (test_neg)"};
  return kNames[int(set)];
}

LeftOut check_edge_split(EdgeSplit& split, Index vertices, bool undirected, const std::string& source) {
  check_ids(split, vertices, source);
  check_overlap(split, source);
  const LeftOut left = undirected ? leave_out(split) : LeftOut();
  if (split.of(PairSet::kTrain).empty())
    fail("{}: there is no training edge (train_pos); give at least one", source);
  constexpr Index kMost = (Index(1) << 31) - 1;
  if (Index(split.of(PairSet::kTrain).size()) > kMost)
    fail("{}: there are {} training edges; allowed are {} at most", source, split.of(PairSet::kTrain).size(),
         kMost);
  for (const auto& [edges, negatives] : {std::pair(PairSet::kValidation, PairSet::kValidationNegative),
                                         std::pair(PairSet::kTest, PairSet::kTestNegative)})
    if (split.of(edges).empty() != split.of(negatives).empty())
      fail("{}: there are {} {} and {} {}; give both, or neither", source, split.of(edges).size(),
           to_string(edges), split.of(negatives).size(), to_string(negatives));
  return left;
}

}  // namespace atl
