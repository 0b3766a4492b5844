#include "dataset/dataset.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/threads.h"
#include "dataset/feature_writer.h"
#include "dataset/format/npy.h"

namespace atl {

namespace fs = std::filesystem;

/// The arrays, mapped, and their contents as typed spans.
struct Dataset::State {
  fs::path folder, prepared;
  DatasetMeta meta;
  std::vector<NpyArray> arrays;  // keeps the mappings alive

  std::span<const Index> offsets, feature_offsets;
  std::span<const VertexId> columns, feature_columns;
  std::span<const float> weights, feature_values, dense_features, feature_levels;
  std::span<const Half> half_features;
  std::span<const std::int32_t> labels;
  std::span<const std::uint8_t> targets, feature_bits;
  std::span<const std::int64_t> original_ids;
  std::map<std::string, std::span<const std::uint8_t>> splits;
  std::array<std::span<const VertexId>, kPairSets> pairs;

  template <class T>
  std::span<const T> map(const std::string& file, std::initializer_list<Index> shape);
  void check_offsets(std::span<const Index> ends, Index last, const std::string& file) const;
  Index bit_row_bytes() const { return 4 * BitView::words_of(meta.features); }
  const std::uint8_t* bit_row(VertexId id) const { return feature_bits.data() + id * bit_row_bytes(); }
  void map_graph();
  void map_features();
  void map_labels_and_splits();
};

template <class T>
std::span<const T> Dataset::State::map(const std::string& file, std::initializer_list<Index> shape) {
  if (!fs::exists(folder / file)) fail("{}: is missing; import the data set again", (folder / file).string());
  arrays.push_back(NpyArray::open(folder / file));
  expect_shape(arrays.back(), shape);
  return arrays.back().values<T>();
}

/// Checks the two ends only, because reading all would cost a pass over the file; verify() checks the bytes.
void Dataset::State::check_offsets(std::span<const Index> ends, Index last, const std::string& file) const {
  if (ends.front() == 0 && ends.back() == last) return;
  fail("{}: runs from {} to {} instead of 0 to {}; import the data set again", (folder / file).string(),
       ends.front(), ends.back(), last);
}

void Dataset::State::map_graph() {
  offsets = map<Index>("offsets.npy", {meta.vertices + 1});
  check_offsets(offsets, meta.arcs, "offsets.npy");
  columns = map<VertexId>("columns.npy", {meta.arcs});
  if (meta.weighted) weights = map<float>("weights.npy", {meta.arcs});
}

void Dataset::State::map_features() {
  if (meta.features == 0) return;
  if (meta.feature_form == FeatureForm::kBits) {
    feature_bits = map<std::uint8_t>("feature_bits.npy", {meta.vertices, bit_row_bytes()});
    feature_levels = map<float>("feature_levels.npy", {meta.vertices});
    return;
  }
  if (meta.feature_form == FeatureForm::kSparse) {
    feature_offsets = map<Index>("feature_offsets.npy", {meta.vertices + 1});
    check_offsets(feature_offsets, meta.feature_nonzeros, "feature_offsets.npy");
    feature_columns = map<VertexId>("feature_columns.npy", {meta.feature_nonzeros});
    feature_values = map<float>("feature_values.npy", {meta.feature_nonzeros});
    return;
  }
  const NpyArray dense = NpyArray::open(folder / "features.npy");
  if (dense.dtype() == Dtype::kFloat16) {
    half_features = map<Half>("features.npy", {meta.vertices, meta.features});
  } else {
    dense_features = map<float>("features.npy", {meta.vertices, meta.features});
  }
}

void Dataset::State::map_labels_and_splits() {
  if (meta.multi_label) {
    targets = map<std::uint8_t>("targets.npy", {meta.vertices, meta.classes});
  } else if (meta.classes > 0) {
    labels = map<std::int32_t>("labels.npy", {meta.vertices});
  }
  for (const auto& [name, count] : meta.splits) {
    splits[name] = map<std::uint8_t>("split_" + name + ".npy", {meta.vertices, count});
  }
  if (meta.checksums.contains("original_ids.npy")) {
    original_ids = map<std::int64_t>("original_ids.npy", {meta.vertices});
  }
  for (int s = 0; s < kPairSets && meta.pairs.any(); ++s)
    pairs[std::size_t(s)] = map<VertexId>(pairs_file(PairSet(s)), {meta.pairs.of[std::size_t(s)], 2});
}

namespace {

/// The folder for prepared graphs. If the data set itself lies in `elsewhere`, they are in its own folder.
fs::path prepared_folder_of(const fs::path& folder, const fs::path& elsewhere) {
  if (elsewhere.empty()) return folder / "prepared";
  const fs::path whole = fs::canonical(folder), place = fs::weakly_canonical(elsewhere) / whole.filename();
  return place == whole ? folder / "prepared" : place;
}

}  // namespace

Dataset::Dataset(std::unique_ptr<State> state) : state_(std::move(state)) {}
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(Dataset&&) noexcept = default;
Dataset::~Dataset() = default;

Dataset Dataset::open(const fs::path& folder, const fs::path& elsewhere) {
  exists_whole(folder);
  const fs::path meta_path = folder / "meta.json";
  std::ifstream file(meta_path, std::ios::binary);
  if (!file && errno != ENOENT && errno != ENOTDIR)
    fail("{}: cannot be read: {}; check its permissions", meta_path.string(), std::strerror(errno));
  if (!file)
    fail(
        "{0}: is not a data set (no meta.json); create one with: atoll dataset import --format FORMAT SRC {0}",
        folder.string());
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto state = std::make_unique<State>();
  state->folder = folder;
  state->prepared = prepared_folder_of(folder, elsewhere);
  state->meta = parse_meta(text, meta_path.string());
  state->map_graph();
  state->map_features();
  state->map_labels_and_splits();
  return Dataset(std::move(state));
}

const DatasetMeta& Dataset::meta() const {
  return state_->meta;
}
const fs::path& Dataset::folder() const {
  return state_->folder;
}
const fs::path& Dataset::prepared_folder() const {
  return state_->prepared;
}

CsrView Dataset::graph() const {
  const State& s = *state_;
  return {s.meta.vertices, s.meta.vertices, s.offsets.data(), s.columns.data(),
          s.meta.weighted ? s.weights.data() : nullptr};
}

void Dataset::read_features(std::span<const VertexId> ids, MatrixView out) const {
  const State& s = *state_;
  ATOLL_CHECK(out.rows == Index(ids.size()) && out.cols == s.meta.features, "({}, {}) for {} rows of {}",
              out.rows, out.cols, ids.size(), s.meta.features);
  const std::size_t width = std::size_t(s.meta.features);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Real* row = out.row(Index(i));
    const std::size_t id = std::size_t(ids[i]);
    if (!s.dense_features.empty()) {
      std::copy_n(s.dense_features.data() + id * width, width, row);
    } else if (!s.half_features.empty()) {
      std::transform(s.half_features.data() + id * width, s.half_features.data() + (id + 1) * width, row,
                     [](Half half) { return Real(to_float(half)); });
    } else if (!s.feature_bits.empty()) {
      expand_bits(s.bit_row(ids[i]), s.feature_levels[id], s.meta.features, row);
    } else {
      std::fill_n(row, width, Real(0));
      for (Index k = s.feature_offsets[id]; k < s.feature_offsets[id + 1]; ++k) {
        row[s.feature_columns[std::size_t(k)]] = Real(s.feature_values[std::size_t(k)]);
      }
    }
  }
}

namespace {

/// Reads one dense row at a time.
Csr non_zeros(const Dataset& dataset, std::span<const VertexId> ids) {
  Csr rows;
  rows.rows = Index(ids.size());
  rows.cols = dataset.meta().features;
  Matrix row(1, rows.cols);
  for (const VertexId id : ids) {
    dataset.read_features(std::span(&id, 1), row);
    for (Index c = 0; c < rows.cols; ++c) {
      if (row.at(0, c) == 0) continue;
      rows.columns.push_back(VertexId(c));
      rows.weights.push_back(float(row.at(0, c)));
    }
    rows.offsets.push_back(Index(rows.columns.size()));
  }
  return rows;
}

}  // namespace

Index Dataset::feature_entries(VertexId id) const {
  return state_->feature_offsets[std::size_t(id) + 1] - state_->feature_offsets[std::size_t(id)];
}

Csr Dataset::read_sparse_features(std::span<const VertexId> ids) const {
  const State& s = *state_;
  if (s.meta.feature_form != FeatureForm::kSparse) return non_zeros(*this, ids);
  Csr rows;
  rows.rows = Index(ids.size());
  rows.cols = s.meta.features;
  rows.offsets.reserve(ids.size() + 1);
  for (VertexId id : ids) rows.offsets.push_back(rows.offsets.back() + feature_entries(id));
  rows.columns.resize(std::size_t(rows.offsets.back()));
  rows.weights.resize(std::size_t(rows.offsets.back()));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Index begin = s.feature_offsets[std::size_t(ids[i])], to = rows.offsets[i];
    const Index degree = rows.offsets[i + 1] - to;
    std::copy_n(s.feature_columns.begin() + begin, degree, rows.columns.begin() + to);
    std::copy_n(s.feature_values.begin() + begin, degree, rows.weights.begin() + to);
  }
  return rows;
}

BitMatrix Dataset::read_feature_bits(std::span<const VertexId> ids) const {
  const State& s = *state_;
  ATOLL_CHECK(s.meta.feature_form == FeatureForm::kBits, "{} isn't stored as bits", s.meta.name);
  BitMatrix rows(Index(ids.size()), s.meta.features);
  for (std::size_t i = 0; i < ids.size(); ++i)
    std::memcpy(rows.row(Index(i)), s.bit_row(ids[i]), std::size_t(s.bit_row_bytes()));
  return rows;
}

std::vector<Real> Dataset::read_feature_levels(std::span<const VertexId> ids) const {
  std::vector<Real> levels;
  levels.reserve(ids.size());
  for (const VertexId id : ids) levels.push_back(Real(state_->feature_levels[std::size_t(id)]));
  return levels;
}

std::span<const std::int32_t> Dataset::labels() const {
  return state_->labels;
}

View<const std::uint8_t> Dataset::targets() const {
  if (state_->targets.empty()) return {};
  return {state_->targets.data(), state_->meta.vertices, Index(state_->meta.classes)};
}

View<const std::uint8_t> Dataset::split(const std::string& name) const {
  const auto found = state_->splits.find(name);
  if (found == state_->splits.end()) {
    std::string known;
    for (const auto& [split, columns] : state_->meta.splits) {
      known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", split, counted_text(columns, "column"));
    }
    fail("{}: has no split '{}'; {}", state_->folder.string(), name,
         known.empty() ? "it has none: import the data set again with --split random:60/20/20"
                       : "it has: " + known);
  }
  return {found->second.data(), state_->meta.vertices, Index(state_->meta.splits.at(name))};
}

std::span<const std::int64_t> Dataset::original_ids() const {
  return state_->original_ids;
}

View<const VertexId> Dataset::pairs(PairSet set) const {
  const std::span<const VertexId> all = state_->pairs[std::size_t(set)];
  return {all.data(), Index(all.size()) / 2, 2};
}

void Dataset::forget() const {
  for (const NpyArray& array : state_->arrays) array.forget_rows(0, array.rows());
}

void Dataset::verify() const {
  const std::vector<std::pair<std::string, std::string>> files(state_->meta.checksums.begin(),
                                                               state_->meta.checksums.end());
  std::vector<std::string> actual(files.size());
  ThreadPool pool(available_cores());
  pool.run(Index(files.size()), [&](Index i, int) {
    actual[std::size_t(i)] = sha256_of_file(state_->folder / files[std::size_t(i)].first);
  });
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (actual[i] == files[i].second) continue;
    const bool generated = state_->meta.source.starts_with("generated:");
    fail("{}: is damaged: its SHA-256 is {}, but meta.json says {}; {}",
         (state_->folder / files[i].first).string(), actual[i], files[i].second,
         generated ? "remove the folder and generate the data set again" : "import the data set again");
  }
}

}  // namespace atl
