// The file of pairs of vertices that `atoll predict --pairs` scores.
#include "train/predictions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "dataset/format/npy.h"
#include "dataset/format/text.h"
#include "dataset/import/array_rows.h"

namespace atl {
namespace {

/// Finds the vertex for an id of the source.
class VertexOf {
 public:
  explicit VertexOf(const Dataset& dataset) : dataset_(dataset) {
    const auto ids = dataset.original_ids();
    for (std::size_t v = 0; v < ids.size(); ++v) by_id_.emplace_back(ids[v], VertexId(v));
    std::ranges::sort(by_id_);
  }

  VertexId operator()(std::int64_t id, const std::string& where) const {
    if (by_id_.empty() && id >= 0 && id < dataset_.meta().vertices) return VertexId(id);
    const auto at = std::ranges::lower_bound(by_id_, id, {}, &std::pair<std::int64_t, VertexId>::first);
    if (at != by_id_.end() && at->first == id) return at->second;
    if (by_id_.empty())
      fail("{}: {} is no vertex of {}; allowed are ids 0 … {}", where, id, dataset_.meta().name,
           dataset_.meta().vertices - 1);
    fail("{}: {} is no vertex of {}; use ids of its source, as vertex_ids.npy has them", where, id,
         dataset_.meta().name);
  }

 private:
  const Dataset& dataset_;
  std::vector<std::pair<std::int64_t, VertexId>> by_id_;  // ascending; empty: ids are row numbers
};

std::vector<VertexPair> read_npy(const std::filesystem::path& path, const VertexOf& vertex_of) {
  const NpyArray array = NpyArray::open(path);
  if (array.shape().size() != 2 || array.shape()[1] != 2)
    fail("{}: is {}; must be (pairs, 2): one row (source, destination) per pair", array.name(),
         array.description());
  expect_integers(array, "ids of vertices");
  const std::vector<std::int64_t> ids = array.read<std::int64_t>();
  std::vector<VertexPair> pairs(std::size_t(array.rows()));
  for (std::size_t i = 0; i < ids.size(); ++i)
    pairs[i / 2][i % 2] = vertex_of(ids[i], fmt::format("{}: row {}", path.string(), i / 2));
  return pairs;
}

/// The two integers of a line that has nothing else; otherwise none.
std::optional<std::array<std::int64_t, 2>> pair_of(std::string_view line) {
  Fields fields(line, line.find(',') == std::string_view::npos ? ' ' : ',');
  std::array<std::int64_t, 2> ids{};
  for (std::int64_t& id : ids) {
    std::string_view field;
    if (!fields.next(field)) return {};
    const auto [behind, status] = std::from_chars(field.data(), field.data() + field.size(), id);
    if (status != std::errc() || behind != field.data() + field.size()) return {};
  }
  return fields.at_end() ? std::optional(ids) : std::nullopt;
}

std::vector<VertexPair> read_text(const std::filesystem::path& path, const VertexOf& vertex_of) {
  LineReader lines(path);
  std::vector<VertexPair> pairs;
  std::string_view line;
  while (lines.next(line)) {
    line = line.substr(0, line.find('#'));
    if (Fields(line).at_end()) continue;
    const auto ids = pair_of(line);
    if (!ids) fail("{}: {} isn't a pair; give two ids per line: 3 17", lines.where(), in_quotes(line));
    pairs.push_back({vertex_of((*ids)[0], lines.where()), vertex_of((*ids)[1], lines.where())});
  }
  return pairs;
}

}  // namespace

std::vector<VertexPair> read_pair_file(const std::filesystem::path& path, const Dataset& dataset) {
  if (std::filesystem::is_directory(path)) fail("{}: is a folder; give a file of pairs", path.string());
  const VertexOf vertex_of(dataset);
  std::vector<VertexPair> pairs =
      path.extension() == ".npy" ? read_npy(path, vertex_of) : read_text(path, vertex_of);
  if (pairs.empty()) fail("{}: there is no pair; give at least one", path.string());
  return pairs;
}

}  // namespace atl
