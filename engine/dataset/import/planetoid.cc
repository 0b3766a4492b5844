// Planetoid (Yang, Cohen, Salakhutdinov 2016): Cora, CiteSeer, PubMed as Python pickles. Vertices 0 … |allx|
// − 1 have their features in allx; the row i of tx belongs to the vertex in line i of test.index, which is
// permuted. Vertices in its range that test.index leaves out (CiteSeer's isolated ones) get zero features and
// no label. The public split trains on the rows of x, validates on the 500 after them, tests on test.index.
// Geom-GCN's ten splits are imported too if their files are in the folder.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "dataset/format/pickle.h"
#include "dataset/format/text.h"
#include "dataset/import/array_rows.h"
#include "dataset/import/id_map.h"
#include "dataset/import/importers.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr Index kValidation = 500;

/// Returns NAME of the folder's only ind.NAME.allx, or `wanted` if that file is there.
std::string find_name(const fs::path& folder, const std::string& wanted) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with("ind.") && file.ends_with(".allx")) names.push_back(file.substr(4, file.size() - 9));
  }
  std::sort(names.begin(), names.end());
  if (std::find(names.begin(), names.end(), wanted) != names.end()) return wanted;
  if (names.empty())
    fail("{}: has no ind.NAME.allx; give the folder of the Planetoid files", folder.string());
  if (names.size() > 1) {
    fail("{}: holds several data sets ({}, {}, …); choose one with --name", folder.string(), names[0],
         names[1]);
  }
  return names[0];
}

struct PlanetoidFiles {
  fs::path folder;
  std::string name;
  fs::path operator()(const char* part) const { return folder / fmt::format("ind.{}.{}", name, part); }
};

std::vector<Index> read_test_ids(const fs::path& path, Index rows) {
  std::vector<Index> ids, numbers;  // ids, and the numbers of their lines
  LineReader lines(path);
  std::string_view line;
  while (lines.next(line)) {
    Fields fields(line);
    std::string_view field;
    if (!fields.next(field)) continue;
    ids.push_back(parse_integer(field, lines));
    numbers.push_back(lines.line());
    if (ids.back() < 0) fail("{}: the id {} is negative; ids are 0 or more", lines.where(), ids.back());
  }
  if (const auto twice = first_twice(ids))
    fail("{}: lines {} and {} both hold {}; each test vertex has one row: copy or download it again",
         path.string(), numbers[std::size_t(twice->first)], numbers[std::size_t(twice->second)],
         ids[std::size_t(twice->first)]);
  if (Index(ids.size()) != rows) {
    fail("{}: holds {} ids, but tx has {} rows; copy or download both again", path.string(), ids.size(),
         rows);
  }
  return ids;
}

/// Where each vertex's features and label are: its row in allx, or |allx| + its row in tx, or −1.
std::vector<Index> rows_of_vertices(Index vertices, Index all, std::span<const Index> test_ids) {
  std::vector<Index> row_of(std::size_t(vertices), -1);
  for (Index v = 0; v < std::min(all, vertices); ++v) row_of[std::size_t(v)] = v;
  for (std::size_t i = 0; i < test_ids.size(); ++i) row_of[std::size_t(test_ids[i])] = all + Index(i);
  return row_of;
}

void add_features(const NpzCsr& allx, const NpzCsr& tx, std::span<const Index> row_of,
                  const std::string& source, DatasetWriter& writer) {
  if (tx.cols != allx.cols) {
    fail("{}: has {} features, but tx has {}; copy or download both again", source, allx.cols, tx.cols);
  }
  writer.begin_features(allx.cols);
  Csr none;
  none.rows = 1;
  none.cols = allx.cols;
  none.offsets = {0, 0};
  for (Index row : row_of) {
    const Csr one = row < 0           ? none
                    : row < allx.rows ? csr_rows(allx, row, 1)
                                      : csr_rows(tx, row - allx.rows, 1);
    writer.add_sparse_features(one.view(), {source, row});
  }
}

/// The class of each one-hot row; −1 for a row of zeros.
std::vector<std::int32_t> read_classes(const NpyArray& one_hot) {
  expect_shape(one_hot, {-1, -1});
  std::vector<std::uint8_t> row(std::size_t(one_hot.cols()));
  std::vector<std::int32_t> classes;
  for (Index r = 0; r < one_hot.rows(); ++r) {
    one_hot.read_rows(r, 1, row.data());
    const auto set = std::count_if(row.begin(), row.end(), [](std::uint8_t x) { return x != 0; });
    if (set > 1) fail("{}: row {} has {} classes; a vertex must have one", one_hot.name(), r, set);
    const auto found = std::find_if(row.begin(), row.end(), [](std::uint8_t x) { return x != 0; });
    classes.push_back(set == 0 ? -1 : std::int32_t(found - row.begin()));
  }
  return classes;
}

void add_labels(const NpyArray& ally, const NpyArray& ty, std::span<const Index> row_of,
                DatasetWriter& writer) {
  std::vector<std::int32_t> classes = read_classes(ally);
  const std::vector<std::int32_t> test = read_classes(ty);
  classes.insert(classes.end(), test.begin(), test.end());
  std::vector<std::int32_t> labels;
  for (Index row : row_of) labels.push_back(row < 0 ? -1 : classes[std::size_t(row)]);
  writer.set_labels(labels, int(ally.cols()), {ally.name()});
}

void add_public_split(Index vertices, Index training, Index all, std::span<const Index> test_ids,
                      const PlanetoidFiles& files, DatasetWriter& writer) {
  SplitTable split(vertices, 1);
  for (Index v = 0; v < training; ++v) split.mark(v, 0, Split::kTrain, files("y").string());
  for (Index v = training; v < std::min(training + kValidation, all); ++v) {
    split.mark(v, 0, Split::kValidation, files("ally").string());
  }
  for (Index v : test_ids) split.mark(v, 0, Split::kTest, files("test.index").string());
  writer.add_split("default", split.view(), files("y").string());
}

void add_geom_gcn_splits(const PlanetoidFiles& files, Index vertices, DatasetWriter& writer) {
  std::vector<fs::path> paths;
  while (true) {
    const fs::path next = files.folder / fmt::format("{}_split_0.6_0.2_{}.npz", files.name, paths.size());
    if (!fs::exists(next)) break;
    paths.push_back(next);
  }
  if (!paths.empty())
    writer.add_split("geom_gcn", read_mask_splits(paths, vertices).view(), paths[0].string());
}

void add_arcs(const Pickle& graph, Index vertices, const std::string& source, DatasetWriter& writer) {
  std::vector<VertexId> src, dst;
  graph.for_each_in_lists([&](std::int64_t from, std::int64_t to) {
    if (from < 0 || from >= vertices || to < 0 || to >= vertices) {
      fail("{}: the arc {} → {} has an id out of range; allowed are 0 … {}: copy or download the files again",
           source, from, to, vertices - 1);
    }
    src.push_back(VertexId(from));
    dst.push_back(VertexId(to));
  });
  writer.add_arcs(src, dst, {}, {source});
}

}  // namespace

void import_planetoid(const fs::path& folder, const ImportOptions& options, DatasetWriter& writer) {
  if (options.weights) fail("{}: Planetoid's files hold no weights; leave out --weights", folder.string());
  const PlanetoidFiles files{folder, find_name(folder, options.name)};
  const NpzCsr allx = Pickle::open(files("allx")).csr(), tx = Pickle::open(files("tx")).csr();
  const NpyArray ally = Pickle::open(files("ally")).array(), ty = Pickle::open(files("ty")).array();
  const NpyArray y = Pickle::open(files("y")).array();
  const Pickle graph = Pickle::open(files("graph"));
  expect_shape(ally, {allx.rows, -1});
  expect_shape(ty, {tx.rows, ally.cols()});
  expect_shape(y, {-1, ally.cols()});
  const std::vector<Index> test_ids = read_test_ids(files("test.index"), tx.rows);
  const Index last_test = test_ids.empty() ? -1 : *std::max_element(test_ids.begin(), test_ids.end());
  const Index vertices = std::max(allx.rows, graph.keys());
  if (last_test >= vertices || y.rows() > allx.rows) {
    fail("{}: test vertex {} and {} training rows do not fit {} vertices; copy or download the files again",
         files("test.index").string(), last_test, y.rows(), vertices);
  }
  const std::vector<Index> row_of = rows_of_vertices(vertices, allx.rows, test_ids);
  writer.set_vertices(vertices);
  writer.set_symmetrise(symmetrises(options, true));
  add_features(allx, tx, row_of, files("allx").string(), writer);
  add_labels(ally, ty, row_of, writer);
  add_public_split(vertices, y.rows(), allx.rows, test_ids, files, writer);
  add_geom_gcn_splits(files, vertices, writer);
  add_arcs(graph, vertices, files("graph").string(), writer);
}

}  // namespace atl
