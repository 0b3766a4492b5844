// OGB's node-property folders (Hu et al. 2020) as CSV: raw/ with edge, num-node-list, node-feat, node-label
// and edge-feat, split/<scheme>/ with train, valid and test; all .csv or .csv.gz. The source may be the data
// set's folder or raw/ itself, or one relation of a set with several types of vertices. ogbn-papers100M's
// raw/ is binary. OGB stores one arc of each undirected edge, so auto symmetrises. A label of
// nan means unlabelled; more than one column of labels is multi-label.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/error.h"
#include "dataset/format/npz.h"
#include "dataset/import/array_rows.h"
#include "dataset/import/importers.h"
#include "dataset/import/neutral_meta.h"
#include "dataset/import/ogb_files.h"
#include "dataset/splits.h"

namespace atl {
namespace {

// OGB's sets with a binary raw/, such as ogbn-papers100M: data.npz with edge_index (2, arcs), node_feat
// (vertices, features), num_nodes_list; node-label.npz with node_label (vertices, 1), nan if unlabelled.

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

/// Hands on everything but the splits, which are text, and returns the number of vertices. Arrays are read in
/// place or unpacked to temporary files; only labels are held in memory.
Index read_ogb_binary(const OgbFiles& files, const ImportOptions& options, DatasetWriter& writer) {
  const NpzFile data = NpzFile::open(files.archive, writer.scratch_folder());
  const Index vertices = count_vertices(data);
  writer.set_vertices(vertices);
  if (data.contains("node_feat")) add_feature_rows(data.read("node_feat"), writer);
  read_labels(files, writer);
  read_arcs(data, options, writer);
  return vertices;
}

namespace fs = std::filesystem;

constexpr std::size_t kValuesPiece = 1 << 16;

/// Weights come from a second file with one column, line by line.
std::optional<CsvRows> open_weights(const fs::path& raw, bool wanted, const DatasetWriter& writer) {
  const fs::path path = find_text_file(raw / "edge-feat.csv");
  if (!wanted) {
    if (!path.empty()) writer.report("edge-feat is not used; add --weights to use it, if it has one column");
    return std::nullopt;
  }
  if (path.empty()) fail("{}: has no edge-feat.csv.gz for weights; leave out --weights", raw.string());
  return std::make_optional<CsvRows>(path);
}

/// A weight that is left over means that some arc's line is missing, or that weights stand beside wrong arcs.
void expect_no_more(CsvRows& weights) {
  std::vector<double> weight;
  if (weights.next(weight))
    fail("{}: is a weight more than there are arcs; correct it, or copy or download both files again",
         weights.where());
}

void read_arcs(const fs::path& raw, const ImportOptions& options, DatasetWriter& writer) {
  const fs::path path = find_text_file(raw / "edge.csv");
  if (path.empty()) fail("{}: has no edge.csv.gz; give OGB's folder or its raw/", raw.string());
  CsvRows arcs(path);
  std::optional<CsvRows> weight_rows = open_weights(raw, options.weights, writer);
  std::vector<VertexId> src, dst;
  std::vector<float> weights;
  std::vector<double> row, weight;
  Index first_line = 1;
  bool more = true;
  while (more) {
    more = arcs.next(row);
    if (more) {
      if (row.size() != 2) fail("{}: has {} fields; an arc must be two ids", arcs.where(), row.size());
      src.push_back(arcs.as_vertex(row[0] - double(options.one_based)));
      dst.push_back(arcs.as_vertex(row[1] - double(options.one_based)));
      if (weight_rows) {
        if (!weight_rows->next(weight) || weight.size() != 1) {
          fail("{}: must hold one weight per arc; correct it, or leave out --weights", weight_rows->where());
        }
        weights.push_back(weight_rows->as_float(weight[0]));
      }
    }
    if (src.size() == kValuesPiece || !more) {
      writer.add_arcs(src, dst, weights, {path.string(), first_line, true});
      first_line += Index(src.size());
      src.clear();
      dst.clear();
      weights.clear();
    }
  }
  if (weight_rows) expect_no_more(*weight_rows);
}

void read_features(const fs::path& raw, DatasetWriter& writer) {
  const fs::path path = find_text_file(raw / "node-feat.csv");
  if (path.empty()) return;
  CsvRows rows(path);
  std::vector<double> row;
  std::vector<float> values;
  while (rows.next(row)) {
    if (rows.line() == 1) writer.begin_features(Index(row.size()));
    values.clear();
    for (const double value : row) values.push_back(rows.as_float(value));
    writer.add_features({values.data(), 1, Index(values.size())}, {path.string(), rows.line(), true});
  }
}

void read_labels(const fs::path& raw, DatasetWriter& writer) {
  const fs::path path = find_text_file(raw / "node-label.csv");
  if (path.empty()) return;
  CsvRows rows(path);
  std::vector<double> row;
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> targets;
  Index columns = 0;
  while (rows.next(row)) {
    columns = Index(row.size());
    for (double value : row) {
      if (columns == 1) {
        if (std::isfinite(value) && value != std::floor(value))
          fail(
              "{}: the label is {}. Atoll predicts classes, not numbers (regression isn't built); classes are whole numbers",
              rows.where(), value);
        if (value < 0)
          fail("{}: the label is {}; classes are 0 or more, and a vertex without a label has nan",
               rows.where(), value);
        labels.push_back(std::isnan(value) ? -1 : std::int32_t(rows.as_vertex(value)));
      } else {
        if (value != 0 && value != 1) fail("{}: a target is {}; allowed are 0 and 1", rows.where(), value);
        targets.push_back(std::uint8_t(value));
      }
    }
  }
  if (columns == 1) return writer.set_labels(labels, 0, {path.string(), 1, true});
  if (columns > 1) {
    writer.set_flags({targets.data(), Index(targets.size()) / columns, columns}, {path.string(), 1, true});
  }
}

SplitTable read_split(const fs::path& folder, Index vertices, bool one_based) {
  SplitTable split(vertices, 1);
  const std::pair<const char*, Split> parts[] = {
      {"train.csv", Split::kTrain}, {"valid.csv", Split::kValidation}, {"test.csv", Split::kTest}};
  for (const auto& [name, part] : parts) {
    const fs::path path = find_text_file(folder / name);
    if (path.empty()) fail("{}: has no {}.gz; a split needs train, valid and test", folder.string(), name);
    CsvRows rows(path);
    std::vector<double> row;
    while (rows.next(row)) split.mark(rows.as_integer(row[0]) - one_based, 0, part, rows.where());
  }
  return split;
}

void read_splits(const OgbFiles& files, Index vertices, bool one_based, DatasetWriter& writer) {
  if (!fs::is_directory(files.splits)) return;
  std::vector<fs::path> schemes;
  for (const auto& entry : fs::directory_iterator(files.splits)) {
    if (entry.is_directory() && fs::is_directory(entry.path() / files.type)) schemes.push_back(entry.path());
  }
  std::sort(schemes.begin(), schemes.end());
  for (const fs::path& scheme : schemes) {
    const std::string name = schemes.size() == 1 ? "default" : scheme.filename().string();
    const fs::path parts = files.type.empty() ? scheme : scheme / files.type;
    writer.add_split(name, read_split(parts, vertices, one_based).view(), parts.string());
  }
}

Index read_text(const OgbFiles& files, const ImportOptions& options, DatasetWriter& writer) {
  const Index vertices = read_ogb_vertices(files);
  writer.set_vertices(vertices);
  read_features(files.features, writer);
  read_labels(files.labels, writer);
  read_arcs(files.arcs, options, writer);
  return vertices;
}

}  // namespace

void import_ogb(const fs::path& source, const ImportOptions& options, DatasetWriter& writer) {
  const OgbFiles files = find_ogb_files(source);
  writer.set_symmetrise(symmetrises(options, true));
  const Index vertices =
      files.archive.empty() ? read_text(files, options, writer) : read_ogb_binary(files, options, writer);
  read_splits(files, vertices, options.one_based, writer);
}

}  // namespace atl
