#include "dataset/import/edge_pairs.h"

#include <limits>

#include "base/error.h"
#include "dataset/format/npz.h"
#include "dataset/import/array_rows.h"

namespace atl {
namespace {

/// Each set as tools call it.
constexpr const char* kNames[kPairSets][2] = {{"train_pos", "train"},
                                              {"val_pos", "valid_pos"},
                                              {"test_pos", "test"},
                                              {"val_neg", "valid_neg"},
                                              {"test_neg", "test_neg"}};

NpyArray find(const NpzFile& archive, PairSet set) {
  for (const char* name : kNames[int(set)])
    if (archive.contains(name)) return archive.read(name);
  return archive.read(kNames[int(set)][0]);  // an Error that lists what there is
}

std::vector<VertexPair> read_pairs(const NpyArray& array, VertexId first_id) {
  expect_arc_rows(array);
  expect_integers(array, "ids of vertices");
  const std::vector<std::int64_t> ids = array.read<std::int64_t>();
  constexpr std::int64_t kLargest = std::numeric_limits<VertexId>::max();
  std::vector<VertexPair> pairs(std::size_t(array.rows()));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int64_t id = ids[i] - first_id;
    if (id < 0 || id > kLargest)
      fail("{}: row {} holds {}; allowed are ids from {} on, as edges.npy has them: correct it", array.name(),
           i / 2, ids[i], first_id);
    pairs[i / 2][i % 2] = VertexId(id);
  }
  return pairs;
}

}  // namespace

EdgeSplit read_edge_split(const std::filesystem::path& path, VertexId first_id) {
  const NpzFile archive = NpzFile::open(path);
  EdgeSplit split;
  for (int s = 0; s < kPairSets; ++s)
    split.pairs[std::size_t(s)] = read_pairs(find(archive, PairSet(s)), first_id);
  return split;
}

}  // namespace atl
