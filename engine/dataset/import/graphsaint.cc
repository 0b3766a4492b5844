#include "dataset/import/graphsaint.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "dataset/format/text.h"
#include "dataset/import/array_rows.h"
#include "dataset/import/importers.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr Index kPieceArcs = 1 << 18;

fs::path required(const fs::path& path) {
  const fs::path found = find_text_file(path);
  if (found.empty())
    fail("{}: does not exist; give a folder with adj_full.npz, class_map.json, role.json", path.string());
  return found;
}

NpzCsr read_adjacency(const fs::path& path, const DatasetWriter& writer) {
  NpzCsr adjacency = read_csr_npz(path, writer.scratch_folder());
  if (adjacency.rows != adjacency.cols) {
    fail("{}: is {} × {}; the matrix must be square", path.string(), adjacency.rows, adjacency.cols);
  }
  return adjacency;
}

/// Adds some rows at a time, about kPieceArcs arcs.
void add_arcs(const NpzCsr& adjacency, const fs::path& path, bool weights, DatasetWriter& writer) {
  const Index degree = adjacency.columns.rows() / std::max<Index>(1, adjacency.rows);
  const Index rows_a_piece = std::max<Index>(1, kPieceArcs / std::max<Index>(1, degree));
  std::vector<VertexId> src;
  Index arcs = 0;
  for (Index begin = 0; begin < adjacency.rows; begin += rows_a_piece) {
    const Csr rows = csr_rows(adjacency, begin, std::min(rows_a_piece, adjacency.rows - begin));
    src.clear();
    for (Index r = 0; r < rows.rows; ++r) {
      src.insert(src.end(), std::size_t(rows.offsets[std::size_t(r) + 1] - rows.offsets[std::size_t(r)]),
                 VertexId(begin + r));
    }
    const std::span<const float> values =
        weights ? std::span<const float>(rows.weights) : std::span<const float>();
    writer.add_arcs(src, rows.columns, values, {path.string() + ": indices and data", arcs});
    arcs += rows.arcs();
  }
}

void add_classes(const fs::path& path, Index vertices, DatasetWriter& writer) {
  const GraphSaintClasses classes = read_class_map(path, vertices);
  if (classes.classes == 0) return writer.set_labels(classes.labels, 0, {path.string()});
  writer.set_flags({classes.targets.data(), vertices, classes.classes}, {path.string()});
}

}  // namespace

void import_graphsaint(const fs::path& folder, const ImportOptions& options, DatasetWriter& writer) {
  const fs::path classes = required(folder / "class_map.json"), roles = required(folder / "role.json");
  Index vertices = 0;
  {
    const fs::path path = folder / "adj_full.npz";
    const NpzCsr adjacency = read_adjacency(path, writer);
    vertices = adjacency.rows;
    writer.set_vertices(vertices);
    add_arcs(adjacency, path, options.weights, writer);
  }
  writer.set_symmetrise(symmetrises(options, false));
  if (fs::exists(folder / "feats.npy")) {
    const NpyArray features = NpyArray::open(folder / "feats.npy");
    expect_a_row_each(features, vertices);
    add_feature_rows(features, writer);
  }
  add_classes(classes, vertices, writer);
  writer.add_split("default", read_roles(roles, vertices).view(), roles.string());
}

namespace {

// JSON as a stream of events, for files too large to hold in memory.

/// The reader of events. Depth counts open objects and arrays.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void key(const std::string& name, int depth) = 0;
  virtual void number(double value, int depth) = 0;
  virtual void end_array(int depth) = 0;
};

/// Translates nlohmann's events into ours.
class Sax : public nlohmann::json_sax<nlohmann::json> {
 public:
  Sax(const std::string& name, JsonEvents& events) : name_(name), events_(events) {}

  bool null() override { not_a_number("null"); }
  bool boolean(bool) override { not_a_number("a boolean"); }
  bool string(string_t&) override { not_a_number("a string"); }
  bool binary(binary_t&) override { not_a_number("binary data"); }
  bool number_integer(number_integer_t value) override { return number(double(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(double(value)); }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool key(string_t& name) override {
    last_key_ = name;
    events_.key(name, depth_);
    return true;
  }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ > 0; }
  bool end_array() override {
    events_.end_array(depth_--);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception&) override {
    fail("{}: byte {}: is not JSON: {} can't stand there; copy or download it again", name_, position,
         in_quotes(token));
  }

 private:
  bool number(double value) {
    events_.number(value, depth_);
    return true;
  }
  [[noreturn]] void not_a_number(const char* what) const {
    fail("{}: the value of {} holds {} where a number is needed; correct it", name_, in_quotes(last_key_),
         what);
  }

  const std::string& name_;
  JsonEvents& events_;
  std::string last_key_;
  int depth_ = 0;
};

/// Reads the whole source. Throws Error naming file and byte for damaged JSON, and for strings, null and
/// booleans as values.
void read_json(ByteSource& source, JsonEvents& events) {
  ByteSourceBuffer buffer(source);
  std::istream stream(&buffer);
  stream.exceptions(std::ios::badbit);  // lets our own Error pass through the stream
  Sax sax(source.name(), events);
  nlohmann::json::sax_parse(stream, &sax);
}

class ClassMap : public JsonEvents {
 public:
  ClassMap(Index vertices, std::string name)
      : vertices_(vertices), name_(std::move(name)), seen_(std::size_t(vertices)) {
    classes_.labels.assign(std::size_t(vertices), -1);
  }

  void key(const std::string& text, int depth) override {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, vertex_);
    if (depth != 1 || error != std::errc() || stop != end || vertex_ < 0 || vertex_ >= vertices_) {
      fail("{}: the key {} is not a vertex; allowed are 0 … {}", name_, in_quotes(text), vertices_ - 1);
    }
    if (seen_[std::size_t(vertex_)])
      fail("{}: vertex {} is given twice; give each vertex its classes once", name_, vertex_);
    seen_[std::size_t(vertex_)] = true;
    ++keys_;
  }
  void number(double value, int depth) override {
    check_place(depth);
    if (depth == 2) return row_.push_back(as_flag(value));
    const bool whole = value >= -1 && value < 1 << 24 && value == std::floor(value);
    if (!whole)
      fail(
          "{}: the class of vertex {} is {}; allowed are whole numbers ≥ 0{}", name_, vertex_, value,
          value == std::floor(value) ? "" : ": Atoll predicts classes, not numbers (regression isn't built)");
    classes_.labels[std::size_t(vertex_)] = std::int32_t(value);
    ++numbers_;
  }
  void end_array(int depth) override {
    check_place(depth);
    if (classes_.classes == 0) {
      classes_.classes = Index(row_.size());
      classes_.targets.assign(std::size_t(vertices_ * classes_.classes), 0);
    }
    if (row_.empty() || Index(row_.size()) != classes_.classes) {
      fail("{}: vertex {} has {} classes, but others have {}; give every vertex the same number", name_,
           vertex_, row_.size(), classes_.classes);
    }
    std::copy(row_.begin(), row_.end(), classes_.targets.begin() + vertex_ * classes_.classes);
    row_.clear();
  }

  GraphSaintClasses take() {
    if (classes_.classes > 0 && numbers_ > 0) {
      fail("{}: some vertices have a class and others a list of classes; use one form for all", name_);
    }
    if (classes_.classes > 0) classes_.labels.clear();
    return std::move(classes_);
  }

 private:
  /// Checks that a value comes after a key, alone or in one list.
  void check_place(int depth) const {
    if (keys_ > 0 && depth <= 2) return;
    fail("{}: is not a map of vertices to classes, {{\"0\": 3, …}} or {{\"0\": [0, 1], …}}; correct it",
         name_);
  }
  std::uint8_t as_flag(double value) const {
    if (value != 0 && value != 1)
      fail("{}: vertex {} has {} in its list; allowed are 0 and 1", name_, vertex_, value);
    return std::uint8_t(value);
  }

  Index vertices_, vertex_ = 0, keys_ = 0, numbers_ = 0;
  std::string name_;
  std::vector<bool> seen_;  // (vertices) which have occurred as keys
  GraphSaintClasses classes_;
  std::vector<std::uint8_t> row_;
};

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
      fail("{}: the key {} is unknown; allowed are tr, va and te", name_, in_quotes(text));
  }
  void number(double value, int depth) override {
    if (part_ == Split::kNone || depth != 2) {
      fail("{}: is not a map of lists, {{\"tr\": [0, …], \"va\": […], \"te\": […]}}; correct it", name_);
    }
    if (!(std::abs(value) < 1e15) || value != std::floor(value)) fail("{}: {} is not a vertex", name_, value);
    split_.mark(Index(value), 0, part_, name_);
  }
  void end_array(int) override {}
  SplitTable take() { return std::move(split_); }

 private:
  SplitTable split_;
  std::string name_;
  Split part_ = Split::kNone;
};

template <class Reader>
auto read(const std::filesystem::path& path, Index vertices) {
  Reader reader(vertices, path.string());
  ByteSource source(path);
  read_json(source, reader);
  return reader.take();
}

}  // namespace

GraphSaintClasses read_class_map(const std::filesystem::path& path, Index vertices) {
  return read<ClassMap>(path, vertices);
}

SplitTable read_roles(const std::filesystem::path& path, Index vertices) {
  return read<Roles>(path, vertices);
}

}  // namespace atl
