#include "dataset/import/ogb_binary.h"

#include <vector>

#include "base/error.h"
#include "dataset/format/npz.h"
#include "dataset/import/array_rows.h"
#include "dataset/import/neutral_labels.h"

namespace atl {
namespace {

Index count_vertices(const NpzFile& data) {
  const NpyArray list = data.read("num_nodes_list");
  expect_integers(list, "numbers of vertices");
  const std::vector<std::int64_t> counts = list.read<std::int64_t>();
  if (counts.size() != 1) fail("{}: holds {} graphs; only one is supported", list.name(), counts.size());
  return counts[0];
}

void read_arcs(const NpzFile& data, const ImportOptions& options, DatasetWriter& writer) {
  if (options.weights)
    fail("{}: weights aren't read from OGB's binary form; leave out --weights", data.name());
  const NpyArray index = data.read("edge_index");
  if (index.shape().size() != 2 || index.rows() != 2)
    fail("{}: is {}; must be (2, arcs): a row of sources and a row of destinations", index.name(),
         index.description());
  add_arc_rows(index.transposed(), nullptr, options.one_based, writer);
}

void read_labels(const OgbFiles& files, DatasetWriter& writer) {
  const std::filesystem::path path = files.labels / "node-label.npz";
  if (!std::filesystem::exists(path)) return;
  add_labels(NpzFile::open(path, writer.scratch_folder()).read("node_label"), {}, writer);
}

}  // namespace

Index read_ogb_binary(const OgbFiles& files, const ImportOptions& options, DatasetWriter& writer) {
  const NpzFile data = NpzFile::open(files.archive, writer.scratch_folder());
  const Index vertices = count_vertices(data);
  writer.set_vertices(vertices);
  if (data.contains("node_feat")) add_feature_rows(data.read("node_feat"), writer);
  read_labels(files, writer);
  read_arcs(data, options, writer);
  return vertices;
}

}  // namespace atl
