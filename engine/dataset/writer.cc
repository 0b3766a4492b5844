#include "dataset/writer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "dataset/dataset.h"
#include "dataset/format/npy_writer.h"
#include "dataset/import/id_map.h"
#include "dataset/writer_state.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr Index kMaxVertices = (Index(1) << 31) - 2;

AtomicFolder::Existing existing(bool replace) {
  return replace ? AtomicFolder::Existing::kReplace : AtomicFolder::Existing::kRefuse;
}

/// Whether models can use the weight. It may not be below 0: a mean divides by the sum of weights, the
/// symmetric normalisation takes its root, and attention multiplies exponentials by weights.
bool is_weight(float weight) {
  return std::isfinite(weight) && weight >= 0;
}

/// Checks a split's name, because it becomes part of a file's.
void check_split_name(const std::string& name, const std::string& source) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
  });
  if (!plain)
    fail("{}: the split name '{}' is not allowed (use letters, digits, '_', '-' and '.')", source, name);
}

/// Checks that each column has a training vertex.
void check_split(View<const std::uint8_t> split, const std::string& source) {
  std::vector<bool> trains(std::size_t(split.cols), false);
  for (Index v = 0; v < split.rows; ++v) {
    for (Index c = 0; c < split.cols; ++c) {
      if (split.at(v, c) == std::uint8_t(Split::kTrain)) trains[std::size_t(c)] = true;
    }
  }
  for (Index c = 0; c < split.cols; ++c) {
    if (!trains[std::size_t(c)]) {
      fail("{}: column {} has no training vertex; mark at least one, or remove the split", source, c);
    }
  }
}

}  // namespace

DatasetWriter::State::State(const fs::path& place, WriterOptions options_)
    : options(std::move(options_)),
      folder(place, existing(options.replace)),
      pool(options.threads > 0 ? options.threads : available_cores()),
      arcs(folder.path(), options.weighted) {
  meta.name =
      options.name.empty() ? fs::absolute(place).lexically_normal().filename().string() : options.name;
  meta.weighted = options.weighted;
}

DatasetWriter::DatasetWriter(const fs::path& place, WriterOptions options)
    : state_(std::make_unique<State>(place, std::move(options))) {}
DatasetWriter::~DatasetWriter() = default;

void DatasetWriter::set_vertices(Index vertices) {
  if (vertices < 1 || vertices > kMaxVertices) {
    fail("{}: has {} vertices; allowed are 1 … {}", state_->meta.name, vertices, kMaxVertices);
  }
  state_->meta.vertices = vertices;
  state_->vertices_are_given = true;
}

void DatasetWriter::set_symmetrise(bool symmetrise) {
  state_->options.symmetrise = symmetrise;
}

void DatasetWriter::set_source(std::string source, std::string licence) {
  state_->meta.source = std::move(source);
  state_->meta.licence = std::move(licence);
}

void DatasetWriter::add_transform(std::string transform) {
  state_->meta.transforms.push_back(std::move(transform));
}

void DatasetWriter::report(const std::string& line) const {
  state_->say(line);
}

void DatasetWriter::warn(const std::string& line) const {
  state_->warn(fmt::format("{}: {}", state_->meta.name, line));
}

const fs::path& DatasetWriter::scratch_folder() const {
  return state_->folder.path();
}

void DatasetWriter::add_arcs(std::span<const VertexId> src, std::span<const VertexId> dst,
                             std::span<const float> weights, const RowOrigin& origin) {
  const Index vertices = state_->meta.vertices > 0 ? state_->meta.vertices : kMaxVertices;
  const bool weighted = state_->options.weighted && !weights.empty();
  for (std::size_t i = 0; i < src.size(); ++i) {
    const bool valid = src[i] >= 0 && src[i] < vertices && dst[i] >= 0 && dst[i] < vertices;
    if (!valid) {
      fail("{}: the arc {} → {} has an id out of range; allowed are 0 … {}: {}", origin.at(Index(i)), src[i],
           dst[i], vertices - 1,
           std::max(src[i], dst[i]) == vertices ? "if ids count from 1, add --one-based"
                                                : "correct it or the number of vertices");
    }
    state_->smallest_id = std::min({state_->smallest_id, src[i], dst[i]});
    if (weighted && !is_weight(weights[i])) {
      fail(
          "{}: the weight of arc {} → {} is {}; weights must be finite and not negative: correct it, or "
          "leave out --weights",
          origin.at(Index(i)), src[i], dst[i], weights[i]);
    }
  }
  if (state_->options.transpose) std::swap(src, dst);
  if (state_->options.edge_split)
    state_->keep_arcs(src, dst);
  else
    state_->arcs.add(src, dst, weights);
}

void DatasetWriter::begin_features(Index columns, Dtype stored) {
  ATOLL_CHECK(!state_->features, "features begin twice");
  const bool half = stored == Dtype::kFloat16 && state_->options.scaling == FeatureScaling::kNone;
  state_->meta.features = columns;
  state_->features.emplace(state_->folder.path(),
                           FeatureOptions{columns, state_->options.scaling, state_->options.float16 || half});
}

void DatasetWriter::add_features(View<const float> rows, const RowOrigin& origin) {
  state_->features->add_dense(rows, origin);
}

void DatasetWriter::add_sparse_features(const CsrView& rows, const RowOrigin& origin) {
  state_->features->add_sparse(rows, origin);
}

void DatasetWriter::add_split(const std::string& name, View<const std::uint8_t> split,
                              const std::string& source) {
  ATOLL_CHECK(split.contiguous(), "splits are stored row by row");
  check_split_name(name, source);
  check_split(split, source);
  if (!state_->split_rows.emplace(name, split.rows).second)
    fail("{}: the split '{}' is given twice", source, name);
  if (state_->training.empty() || name == "default") {
    state_->training.resize(std::size_t(split.rows));
    for (Index v = 0; v < split.rows; ++v) {
      state_->training[std::size_t(v)] = split.at(v, 0) == std::uint8_t(Split::kTrain);
    }
  }
  state_->meta.splits[name] = int(split.cols);
  write_npy(state_->folder.path() / ("split_" + name + ".npy"), Dtype::kUint8,
            std::span<const std::uint8_t>(split.data, std::size_t(split.rows * split.cols)), {split.cols});
}

void DatasetWriter::set_original_ids(std::span<const std::int64_t> ids, const RowOrigin& origin) {
  if (const auto twice = first_twice(ids))  // predictions and pairs are identified by ids
    fail(
        "{} and row {} both hold the id {}; each vertex needs an id of its own: correct one, or leave the ids out",
        origin.at(twice->first), origin.first + twice->second, ids[std::size_t(twice->first)]);
  state_->with_original_id = Index(ids.size());
  if (state_->options.split) state_->original_ids.assign(ids.begin(), ids.end());
  write_npy(state_->folder.path() / "original_ids.npy", Dtype::kInt64, ids);
}

// The labels of a DatasetWriter: one class per vertex, or several.

namespace {

void check_labels(std::span<const std::int32_t> labels, int classes, const RowOrigin& origin) {
  const int end = classes > 0 ? classes : kMostClasses;
  for (std::size_t v = 0; v < labels.size(); ++v) {
    if (labels[v] >= -1 && labels[v] < end) continue;
    fail(
        "{}: the label is {}; allowed are 0 … {}, and −1 for unlabelled: --relabel numbers the labels that there are",
        origin.at(Index(v)), labels[v], classes > 0 ? std::to_string(end - 1) : "the number of classes − 1");
  }
}

}  // namespace

void DatasetWriter::set_labels(std::span<const std::int32_t> labels, int classes, const RowOrigin& origin,
                               std::vector<std::string> names) {
  NumberedLabels numbered;
  if (state_->options.relabel && names.empty()) {
    numbered = number_labels(labels);
    classes = int(numbered.names.size());
    if (!std::equal(labels.begin(), labels.end(), numbered.classes.begin())) {
      labels = numbered.classes;
      names = std::move(numbered.names);
      add_transform(fmt::format("labels: the {} that there are numbered from 0", classes));
    }
  }
  check_labels(labels, classes, origin);
  const std::int32_t largest = labels.empty() ? -1 : *std::max_element(labels.begin(), labels.end());
  state_->meta.classes = classes > 0 ? classes : largest + 1;
  state_->meta.class_names = std::move(names);
  state_->labelled = Index(labels.size());
  std::vector<Index> vertices_of(std::size_t(state_->meta.classes));
  for (const std::int32_t label : labels) {
    if (label >= 0) ++vertices_of[std::size_t(label)];
    if (state_->options.split) state_->has_label.push_back(label >= 0);
  }
  state_->tell_classes(vertices_of);
  write_npy(state_->folder.path() / "labels.npy", Dtype::kInt32, labels);
}

void DatasetWriter::set_flags(View<const std::uint8_t> flags, const RowOrigin& origin) {
  const std::span<const std::uint8_t> all(flags.data, std::size_t(flags.rows * flags.cols));
  const std::vector<std::int32_t> classes = classes_of_one_hot(all, std::size_t(flags.cols));
  if (classes.empty()) return set_targets(flags, origin);
  if (std::find(classes.begin(), classes.end(), -1) != classes.end()) {
    state_->warn(fmt::format(
        "{}: no row of labels has more than one 1, and some have none: they are taken as several labels per "
        "vertex. If they are one-hot, save labels.argmax(1) with -1 for rows of zeros",
        state_->meta.name));
    return set_targets(flags, origin);
  }
  state_->say(fmt::format("{}: labels are one-hot: taken as one class per vertex", state_->meta.name));
  add_transform("labels: one-hot rows taken as one class per vertex");
  set_labels(classes, int(flags.cols), origin);
}

void DatasetWriter::set_targets(View<const std::uint8_t> targets, const RowOrigin& origin) {
  NpyWriter file(state_->folder.path() / "targets.npy", Dtype::kUint8, {targets.cols});
  for (Index v = 0; v < targets.rows; ++v) {
    for (Index c = 0; c < targets.cols; ++c) {
      if (targets.at(v, c) > 1) {
        fail("{}: the target of class {} is {}; allowed are 0 and 1", origin.at(v), c, targets.at(v, c));
      }
    }
    file.append(std::span<const std::uint8_t>(targets.row(v), std::size_t(targets.cols)));
  }
  file.finish();
  state_->meta.multi_label = true;
  state_->meta.classes = int(targets.cols);
  state_->labelled = targets.rows;
  if (state_->options.split) state_->has_label.assign(std::size_t(targets.rows), 1);
}

}  // namespace atl
