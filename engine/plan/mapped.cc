// Counts how much of the mapped files of a data set and its prepared graph a rank touches.
#include "plan/memory.h"

#include <algorithm>
#include <vector>

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr Index kAround = 64 << 10;  // Linux' fault_around_bytes

Index file_bytes(const fs::path& file) {
  std::error_code absent;
  const auto bytes = fs::file_size(file, absent);
  return absent ? 0 : Index(bytes);
}

/// A file of `rows` rows, some of which are read.
class Touched {
 public:
  Touched(const fs::path& file, Index rows)
      : bytes_(file_bytes(file)),
        rows_(std::max<Index>(rows, 1)),
        blocks_(std::size_t(bytes_ / kAround + 1)) {}

  void row(Index r) {
    const Index begin = row_begin(bytes_, rows_, r), end = row_begin(bytes_, rows_, r + 1);
    for (Index b = begin / kAround; b <= end / kAround && b < Index(blocks_.size()); ++b)
      blocks_[std::size_t(b)] = true;
  }
  void rows(Index begin, Index end) {
    for (Index r = begin; r < end; ++r) row(r);
  }
  Index bytes() const {
    return std::min(bytes_, Index(std::count(blocks_.begin(), blocks_.end(), true)) * kAround);
  }

 private:
  Index bytes_, rows_;
  std::vector<bool> blocks_;
};

/// A rank's rows in the data set's numbering, owned first.
struct RankRows {
  std::span<const VertexId> owned, halo;  // halo: prepared numbers
  Index begin, end;
};

Index dataset_bytes(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                    const RankRows& mine, bool halo_features) {
  const DatasetMeta& meta = dataset.meta();
  const auto touched = [&](const char* name, bool with_halo) {
    Touched file(dataset.folder() / name, meta.vertices);
    for (const VertexId v : mine.owned) file.row(v);
    if (with_halo) {
      for (const VertexId row : mine.halo) file.row(prepared.ids()[std::size_t(row)]);
    }
    return file.bytes();
  };
  Index sum = file_bytes(dataset.folder() / ("split_" + job.dataset.split + ".npy"));
  sum += touched(meta.multi_label ? "targets.npy" : "labels.npy", false);
  if (meta.feature_form == FeatureForm::kDense) return sum + touched("features.npy", halo_features);
  if (meta.feature_form == FeatureForm::kBits)
    return sum + touched("feature_bits.npy", halo_features) + touched("feature_levels.npy", halo_features);
  return sum + touched("feature_offsets.npy", halo_features) + touched("feature_columns.npy", halo_features) +
         touched("feature_values.npy", halo_features);
}

/// Bytes of the graph's files or, with prefix "induced_", of the training vertices' subgraph.
Index graph_bytes(const PreparedGraph& prepared, const std::string& name, const RankRows& mine) {
  const fs::path& folder = prepared.folder();
  const Index vertices = prepared.part_offsets().back();
  Touched offsets(folder / (name + "offsets.npy"), vertices + 1);
  offsets.rows(mine.begin, mine.end + 1);
  for (const VertexId row : mine.halo) offsets.row(row);
  const CsrView graph = name.empty() ? prepared.graph() : prepared.induced_graph();
  const double share =
      graph.arcs() == 0 ? 0
                        : double(graph.offsets[mine.end] - graph.offsets[mine.begin]) / double(graph.arcs());
  const double arcs =
      double(file_bytes(folder / (name + "columns.npy")) + file_bytes(folder / (name + "weights.npy")));
  return offsets.bytes() + Index(arcs * share) + file_bytes(folder / (name + "halo.npy"));
}

}  // namespace

Index row_begin(Index bytes, Index rows, Index r) {
  return bytes / rows * r + bytes % rows * r / rows;
}

Index mapped_bytes(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                   bool halo_features) {
  const auto offsets = prepared.part_offsets();
  RankRows mine{{}, prepared.halo(rank), offsets[std::size_t(rank)], offsets[std::size_t(rank) + 1]};
  mine.owned = prepared.ids().subspan(std::size_t(mine.begin), std::size_t(mine.end - mine.begin));
  Touched ids(prepared.folder() / "ids.npy", offsets.back());
  ids.rows(mine.begin, mine.end);
  for (const VertexId row : mine.halo) ids.row(row);
  Index sum = ids.bytes() + dataset_bytes(job, dataset, prepared, mine, halo_features) +
              graph_bytes(prepared, "", mine);
  if (job.training.setting == Setting::kInductive) sum += graph_bytes(prepared, "induced_", mine);
  return sum;
}

}  // namespace atl
