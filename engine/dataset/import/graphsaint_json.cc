#include "dataset/import/graphsaint_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/quoted.h"
#include "dataset/format/json_stream.h"

namespace atl {
namespace {

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
  /// Values stand behind a key, alone or in one list.
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
  std::vector<bool> seen_;  // (vertices) which had their key
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
