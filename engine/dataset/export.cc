#include "dataset/export.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "dataset/format/npy_writer.h"
#include "dataset/format/npz.h"
#include "dataset/import/neutral_meta.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

void export_arcs(const Dataset& dataset, const fs::path& folder) {
  const CsrView graph = dataset.graph();
  NpyWriter arcs(folder / "edges.npy", Dtype::kInt32, {2});
  for (Index v = 0; v < graph.rows; ++v) {
    for (VertexId source : graph.row(v)) {
      const VertexId arc[] = {source, VertexId(v)};
      arcs.append(std::span<const VertexId>(arc));
    }
  }
  arcs.finish();
  if (graph.weights) {
    write_npy(folder / "weights.npy", Dtype::kFloat32, std::span(graph.weights, std::size_t(graph.arcs())));
  }
}

/// Copies a file that our layout and the neutral one share.
void copy_file(const Dataset& dataset, const char* from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(dataset.folder() / from, to, error);
  if (error)
    fail("{}: cannot be written: {}; free space there or choose another place", to.string(), error.message());
}

/// Writes bits as dense rows, because the neutral layout has no bits.
void export_bits(const Dataset& dataset, const fs::path& folder) {
  const Index columns = dataset.meta().features;
  NpyWriter dense(folder / "features.npy", Dtype::kFloat32, {columns});
  Matrix row(1, columns);
  std::vector<float> values(static_cast<std::size_t>(columns));
  for (VertexId v = 0; v < dataset.meta().vertices; ++v) {
    dataset.read_features(std::span(&v, 1), row);
    std::copy_n(row.data(), columns, values.begin());
    dense.append(values);
  }
  dense.finish();
}

void export_features(const Dataset& dataset, const fs::path& folder) {
  const DatasetMeta& meta = dataset.meta();
  if (meta.features == 0) return;
  if (meta.feature_form == FeatureForm::kBits) return export_bits(dataset, folder);
  if (meta.feature_form == FeatureForm::kDense)
    return copy_file(dataset, "features.npy", folder / "features.npy");
  const auto add = [&](NpzWriter& archive, const char* name, const char* file) {
    const NpyArray array = NpyArray::open(dataset.folder() / file);
    const auto write = [&](auto elements) { archive.add(name, array.dtype(), array.shape(), elements); };
    if (array.dtype() == Dtype::kInt64)
      write(array.values<std::int64_t>());
    else if (array.dtype() == Dtype::kInt32)
      write(array.values<std::int32_t>());
    else
      write(array.values<float>());
  };
  NpzWriter archive(folder / "features.npz");
  add(archive, "indices", "feature_columns.npy");
  add(archive, "indptr", "feature_offsets.npy");
  add(archive, "data", "feature_values.npy");
  const std::int64_t shape[] = {meta.vertices, meta.features};
  const Index two[] = {2};
  archive.add("shape", Dtype::kInt64, two, std::span<const std::int64_t>(shape));
  archive.add("format", Dtype::kBytes, {}, std::span<const char>("csr", 3));
  archive.finish();
}

void export_split(const Dataset& dataset, const std::string& name, const fs::path& folder) {
  const View<const std::uint8_t> split = dataset.split(name);
  std::vector<std::uint8_t> mask(std::size_t(split.rows * split.cols));
  std::vector<Index> shape{split.rows};
  if (split.cols > 1) shape.push_back(split.cols);
  NpzWriter archive(folder / (name == "default" ? "split.npz" : "split_" + name + ".npz"));
  for (const auto& [part, value] : {std::pair("train", Split::kTrain), std::pair("val", Split::kValidation),
                                    std::pair("test", Split::kTest)}) {
    std::transform(split.data, split.data + mask.size(), mask.begin(),
                   [wanted = value](std::uint8_t v) { return std::uint8_t(v == std::uint8_t(wanted)); });
    archive.add(part, Dtype::kBool, shape, std::span<const std::uint8_t>(mask));
  }
  archive.finish();
}

void export_edge_split(const Dataset& dataset, const fs::path& folder) {
  NpzWriter archive(folder / "edge_split.npz");
  for (const auto& [name, set] :
       {std::pair("train_pos", PairSet::kTrain), std::pair("val_pos", PairSet::kValidation),
        std::pair("test_pos", PairSet::kTest), std::pair("val_neg", PairSet::kValidationNegative),
        std::pair("test_neg", PairSet::kTestNegative)}) {
    const View<const VertexId> pairs = dataset.pairs(set);
    const Index shape[] = {pairs.rows, 2};
    archive.add(name, Dtype::kInt32, shape,
                std::span<const VertexId>(pairs.data, std::size_t(2 * pairs.rows)));
  }
  archive.finish();
}

}  // namespace

void export_dataset(const Dataset& dataset, const fs::path& place, bool replace) {
  if (replace) check_replaceable(place, Replaceable::kExport, {dataset.folder()});
  AtomicFolder folder(place, replace ? AtomicFolder::Existing::kReplace : AtomicFolder::Existing::kRefuse);
  const DatasetMeta& meta = dataset.meta();
  export_arcs(dataset, folder.path());
  export_features(dataset, folder.path());
  if (meta.multi_label)
    copy_file(dataset, "targets.npy", folder.path() / "labels.npy");
  else if (meta.classes > 0)
    copy_file(dataset, "labels.npy", folder.path() / "labels.npy");
  for (const auto& [name, columns] : meta.splits) export_split(dataset, name, folder.path());
  if (meta.pairs.any()) export_edge_split(dataset, folder.path());
  if (!dataset.original_ids().empty())
    copy_file(dataset, "original_ids.npy", folder.path() / "original_ids.npy");
  write_neutral_meta(meta, folder.path() / "meta.json");
  folder.commit();
}

namespace {

namespace fs = std::filesystem;

/// Looks only at the text of meta.json, which may be torn. In a data set it names the format; in an export it
/// begins with the data set's checksum. In a source that a user has made in the same layout it does neither.
bool holds(const fs::path& folder, Replaceable what) {
  std::ifstream file(folder / "meta.json", std::ios::binary);
  if (!file) return false;
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const bool is_dataset = text.find("\"atollDataset\"") != std::string::npos;
  const bool is_export = text.find("\"atoll_checksum\"") != std::string::npos;
  return what == Replaceable::kDataset ? is_dataset : is_export;
}

bool lies_in(const fs::path& source, const fs::path& place) {
  const fs::path inner = fs::weakly_canonical(source), outer = fs::weakly_canonical(place);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace

void check_replaceable(const fs::path& place, Replaceable kind, const std::vector<fs::path>& sources) {
  if (!fs::exists(place)) return;
  for (const fs::path& source : sources)
    if (fs::exists(source) && lies_in(source, place))
      fail("{}: --replace would delete {}, which is read (choose another DST)", place.string(),
           source.string());
  const std::string_view what = kind == Replaceable::kDataset ? "a data set" : "an export";
  if (!fs::is_directory(place))
    fail("{}: --replace takes the place of {} alone, and this is a file (choose another DST, or remove it)",
         place.string(), what);
  if (fs::is_empty(place) || holds(place, kind)) return;
  fail(
      "{}: --replace takes the place of {} alone, and this folder holds {} (choose another DST, or remove it)",
      place.string(), what, fs::directory_iterator(place)->path().filename().string());
}

}  // namespace atl
