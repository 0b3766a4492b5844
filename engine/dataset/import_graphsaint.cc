// GraphSAINT's folders (Zeng et al. 2020): adj_full.npz (SciPy CSR; row = destination), class_map.json
// (vertex → class, or → list of 0 and 1), role.json (tr, va, te: lists of vertices), feats.npy. class_map's
// keys are in any order; both JSON files may be gzipped. adj_train.npz is the same graph's training part and
// not needed. Features are raw: GraphSAINT standardises them on the training rows, FeatureScaling::kTraining.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "dataset/array_rows.h"
#include "dataset/importers.h"
#include "dataset/json_stream.h"
#include "dataset/splits.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr Index kPieceRows = 1 << 14;

fs::path required(const fs::path& path) {
  const fs::path found = find_text_file(path);
  if (found.empty())
    fail("{}: does not exist; give a folder with adj_full.npz, class_map.json, role.json", path.string());
  return found;
}

/// {"17": 3, …} or {"17": [0, 1, 0], …}
class ClassMap : public JsonEvents {
 public:
  ClassMap(Index vertices, std::string name) : vertices_(vertices), name_(std::move(name)) {
    labels_.assign(std::size_t(vertices), -1);
  }

  void key(const std::string& text, int depth) override {
    finish_row();
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, vertex_);
    if (depth != 1 || error != std::errc() || stop != end || vertex_ < 0 || vertex_ >= vertices_) {
      fail("{}: the key '{}' is not a vertex; allowed are 0 … {}", name_, text, vertices_ - 1);
    }
  }
  void number(double value, int depth) override {
    if (depth == 2) return row_.push_back(as_flag(value));
    const bool whole = value >= -1 && value < 1 << 24 && value == std::floor(value);
    if (!whole || depth != 1)
      fail("{}: the class of vertex {} is {}; allowed are whole numbers ≥ 0", name_, vertex_, value);
    labels_[std::size_t(vertex_)] = std::int32_t(value);
  }
  void end_array(int) override { in_list_ = true; }

  void hand_over(DatasetWriter& writer) {
    finish_row();
    if (width_ == 0) return writer.set_labels(labels_, 0, {name_});
    writer.set_targets({targets_.data(), vertices_, width_}, {name_});
  }

 private:
  std::uint8_t as_flag(double value) const {
    if (value != 0 && value != 1)
      fail("{}: vertex {} has {} in its list; allowed are 0 and 1", name_, vertex_, value);
    return std::uint8_t(value);
  }
  void finish_row() {
    if (!in_list_) return;
    in_list_ = false;
    if (width_ == 0) {
      width_ = Index(row_.size());
      targets_.assign(std::size_t(vertices_ * width_), 0);
    }
    if (Index(row_.size()) != width_) {
      fail("{}: vertex {} has {} classes, others have {}; give all the same", name_, vertex_, row_.size(),
           width_);
    }
    std::copy(row_.begin(), row_.end(), targets_.begin() + vertex_ * width_);
    row_.clear();
  }

  Index vertices_, vertex_ = 0, width_ = 0;
  std::string name_;
  bool in_list_ = false;
  std::vector<std::int32_t> labels_;
  std::vector<std::uint8_t> targets_, row_;
};

/// {"tr": […], "va": […], "te": […]}
class Roles : public JsonEvents {
 public:
  Roles(Index vertices, std::string name) : split_(vertices, 1), name_(std::move(name)) {}

  void key(const std::string& text, int) override {
    if (text == "tr")
      part_ = Split::kTrain;
    else if (text == "va")
      part_ = Split::kValidation;
    else if (text == "te")
      part_ = Split::kTest;
    else
      fail("{}: the key '{}' is unknown; allowed are tr, va and te", name_, text);
  }
  void number(double value, int) override {
    if (!(std::abs(value) < 1e15) || value != std::floor(value)) fail("{}: {} is not a vertex", name_, value);
    split_.mark(Index(value), 0, part_, name_);
  }
  void end_array(int) override {}
  const SplitTable& split() const { return split_; }

 private:
  SplitTable split_;
  std::string name_;
  Split part_ = Split::kNone;
};

void add_arcs(const NpzCsr& adjacency, const fs::path& path, bool weights, DatasetWriter& writer) {
  std::vector<VertexId> dst;
  for (Index begin = 0; begin < adjacency.rows; begin += kPieceRows) {
    const Csr rows = csr_rows(adjacency, begin, std::min(kPieceRows, adjacency.rows - begin));
    dst.clear();
    for (Index r = 0; r < rows.rows; ++r) {
      dst.insert(dst.end(), std::size_t(rows.offsets[std::size_t(r) + 1] - rows.offsets[std::size_t(r)]),
                 VertexId(begin + r));
    }
    const std::span<const float> values =
        weights ? std::span<const float>(rows.weights) : std::span<const float>();
    writer.add_arcs(rows.columns, dst, values, {path.string() + ": indices", 0});
  }
}

}  // namespace

void import_graphsaint(const fs::path& folder, const ImportOptions& options, DatasetWriter& writer) {
  const fs::path adjacency_path = folder / "adj_full.npz";
  const fs::path classes_path = required(folder / "class_map.json"),
                 roles_path = required(folder / "role.json");
  const NpzCsr adjacency = read_csr_npz(adjacency_path);
  if (adjacency.rows != adjacency.cols) {
    fail("{}: is {} × {}; a graph's matrix is square", adjacency_path.string(), adjacency.rows,
         adjacency.cols);
  }
  writer.set_vertices(adjacency.rows);
  writer.set_symmetrise(symmetrises(options, false));
  add_arcs(adjacency, adjacency_path, options.weights, writer);
  if (fs::exists(folder / "feats.npy")) add_feature_rows(NpyArray::open(folder / "feats.npy"), writer);
  ClassMap classes(adjacency.rows, classes_path.string());
  ByteSource classes_source(classes_path);
  read_json(classes_source, classes);
  classes.hand_over(writer);
  Roles roles(adjacency.rows, roles_path.string());
  ByteSource roles_source(roles_path);
  read_json(roles_source, roles);
  writer.add_split("default", roles.split().view(), roles_path.string());
}

}  // namespace atl
