#include "train/predictions.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/atomic_file.h"
#include "base/error.h"
#include "dataset/format/npy.h"
#include "dataset/format/npy_writer.h"

namespace atl {
namespace {

bool is_permutation_of_rows(std::span<const std::int64_t> ids) {
  std::vector<bool> seen(ids.size());
  for (const std::int64_t id : ids) {
    if (id < 0 || id >= std::int64_t(ids.size()) || seen[std::size_t(id)]) return false;
    seen[std::size_t(id)] = true;
  }
  return true;
}

/// An array's dtype, bytes of an element, and shape.
struct FileLayout {
  Dtype dtype;
  Index element_bytes;
  std::vector<Index> shape;
};

FileLayout layout_of(VertexRowsFile::Content content, Index vertices, Index columns) {
  switch (content) {
    case VertexRowsFile::Content::kClass:
      return {Dtype::kInt32, 4, {vertices}};
    case VertexRowsFile::Content::kClasses:
      return {Dtype::kUint8, 1, {vertices, columns}};
    case VertexRowsFile::Content::kValues:
    case VertexRowsFile::Content::kShares:
    case VertexRowsFile::Content::kChances:
      break;
  }
  return {Dtype::kFloat32, 4, {vertices, columns}};
}

/// The divisor of a row's softmax: Σ exp(logit − largest).
double softmax_sum(const Real* row, Index columns, double largest) {
  double sum = 0;
  for (Index c = 0; c < columns; ++c) sum += std::exp(double(row[c]) - largest);
  return sum;
}

/// Appends what the file holds for one row.
void encode(const Real* row, Index columns, VertexRowsFile::Content content, std::vector<char>& out) {
  using Content = VertexRowsFile::Content;
  const auto append = [&](const auto value) {
    const char* bytes = reinterpret_cast<const char*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
  };
  const Real* largest = std::max_element(row, row + columns);
  if (content == Content::kClass) {
    append(std::int32_t(largest - row));
    return;
  }
  const double sum = content == Content::kShares ? softmax_sum(row, columns, *largest) : 1;
  for (Index c = 0; c < columns; ++c) {
    if (content == Content::kClasses)
      append(std::uint8_t(row[c] > 0));
    else if (content == Content::kShares)
      append(float(std::exp(double(row[c]) - *largest) / sum));
    else if (content == Content::kChances)
      append(float(1 / (1 + std::exp(-double(row[c])))));
    else
      append(float(row[c]));
  }
}

}  // namespace

VertexOrder vertex_order(Index vertices, std::span<const std::int64_t> original_ids) {
  VertexOrder order;
  order.vertices = vertices;
  if (original_ids.empty()) return order;
  ATOLL_CHECK(Index(original_ids.size()) == vertices, "{} ids of {} vertices", original_ids.size(), vertices);
  if (is_permutation_of_rows(original_ids)) {
    order.row.assign(original_ids.begin(), original_ids.end());
    return order;
  }
  std::vector<VertexId> by_id(original_ids.size());
  std::iota(by_id.begin(), by_id.end(), 0);
  const auto id_of = [&](VertexId v) { return original_ids[std::size_t(v)]; };
  std::sort(by_id.begin(), by_id.end(),
            [&](VertexId a, VertexId b) { return std::pair(id_of(a), a) < std::pair(id_of(b), b); });
  order.row.resize(by_id.size());
  order.ids.resize(by_id.size());
  for (std::size_t row = 0; row < by_id.size(); ++row) {
    order.row[std::size_t(by_id[row])] = VertexId(row);
    order.ids[row] = id_of(by_id[row]);
  }
  return order;
}

VertexRowsFile::VertexRowsFile(const std::filesystem::path& path, const VertexOrder& order, Index columns,
                               Content content)
    : order_(order), columns_(columns), content_(content), file_(path) {
  ATOLL_CHECK(columns > 0, "{} columns", columns);
  const FileLayout layout = layout_of(content, order.vertices, columns);
  const std::string header = npy_header(layout.dtype, layout.shape);
  header_bytes_ = Index(header.size());
  row_bytes_ = layout.element_bytes * (layout.shape.size() == 2 ? columns : 1);
  file_.write(header);
}

/// Rows that are neighbours in the file are written together, because ranks own long runs of neighbours.
void VertexRowsFile::put(std::span<const VertexId> vertices, ConstMatrixView rows) {
  ATOLL_CHECK(Index(vertices.size()) == rows.rows && (rows.rows == 0 || rows.cols == columns_),
              "{} vertices, rows ({}, {}), columns {}", vertices.size(), rows.rows, rows.cols, columns_);
  constexpr std::size_t kMostBytes = 1 << 20;
  std::vector<char> pending;
  Index pending_row = 0;
  const auto flush = [&] {
    file_.write_at(header_bytes_ + pending_row * row_bytes_, pending.data(), pending.size());
    pending.clear();
  };
  for (Index i = 0; i < rows.rows; ++i) {
    const VertexId vertex = vertices[std::size_t(i)];
    const Index row = order_.row.empty() ? vertex : order_.row[std::size_t(vertex)];
    const bool follows = row == pending_row + Index(pending.size()) / row_bytes_;
    if (!pending.empty() && (!follows || pending.size() >= kMostBytes)) flush();
    if (pending.empty()) pending_row = row;
    encode(rows.row(i), columns_, content_, pending);
  }
  flush();
  filled_ += rows.rows;
}

void VertexRowsFile::commit() {
  ATOLL_CHECK(filled_ == order_.vertices, "{} rows were put for {} vertices", filled_, order_.vertices);
  file_.commit();
}

void remove_predictions(const std::filesystem::path& folder, std::string_view but) {
  for (const std::string_view name : {"predictions.npy", "predicted_labels.npy", "probabilities.npy",
                                      "embeddings.npy", "vertex_ids.npy", "pair_scores.npy"})
    if (name != but) std::filesystem::remove(folder / name);
}

void write_vertex_ids(const std::filesystem::path& path, const VertexOrder& order) {
  std::filesystem::remove(path);
  if (order.ids.empty()) return;
  AtomicFile file(path);
  file.write(npy_header(Dtype::kInt64, std::vector<Index>{order.vertices}));
  file.write(order.ids.data(), order.ids.size() * sizeof(std::int64_t));
  file.commit();
}

namespace {

constexpr std::size_t kPieceBytes = 1 << 20;  // how many bytes are written at a time

std::string key_of(std::size_t number) {
  return "atoll.class." + std::to_string(number);
}

/// The array's elements for each class, equally wide, and the code of their dtype.
struct Elements {
  std::string code;
  std::vector<std::string> of_class;
};

bool add_number(const std::string& name, Elements& out) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  if (error != std::errc() || end != name.data() + name.size()) return false;
  out.of_class.emplace_back(reinterpret_cast<const char*>(&value), sizeof value);
  return true;
}

Elements elements_of(std::span<const std::string> names) {
  Elements numbers{"<i8", {}};
  if (std::all_of(names.begin(), names.end(), [&](const std::string& n) { return add_number(n, numbers); }))
    return numbers;
  Elements text;
  std::size_t bytes = 4;
  for (const std::string& name : names) {
    text.of_class.push_back(ucs4_of_utf8(name));
    bytes = std::max(bytes, text.of_class.back().size());
  }
  for (std::string& element : text.of_class) element.resize(bytes, '\0');
  text.code = fmt::format("<U{}", bytes / 4);
  return text;
}

}  // namespace

void add_class_names(std::span<const std::string> names, Metadata& metadata) {
  for (std::size_t c = 0; c < names.size(); ++c) metadata[key_of(c)] = names[c];
}

std::vector<std::string> class_names_of(const Metadata& metadata) {
  std::vector<std::string> names;
  for (auto found = metadata.find(key_of(0)); found != metadata.end();
       found = metadata.find(key_of(names.size())))
    names.push_back(found->second);
  return names;
}

void write_predicted_labels(const std::filesystem::path& folder, std::span<const std::string> names) {
  const std::filesystem::path path = folder / "predicted_labels.npy";
  std::filesystem::remove(path);
  if (names.empty()) return;
  const Elements elements = elements_of(names);
  const NpyArray predictions = NpyArray::open(folder / "predictions.npy");
  AtomicFile file(path);
  file.write(npy_header(elements.code, predictions.shape()));
  std::string pending;
  for (const std::int32_t predicted : predictions.values<std::int32_t>()) {
    pending += elements.of_class[std::size_t(predicted)];
    if (pending.size() < kPieceBytes) continue;
    file.write(pending);
    pending.clear();
  }
  file.write(pending);
  file.commit();
}

}  // namespace atl
