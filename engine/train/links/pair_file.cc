#include "train/links/pair_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "base/error.h"
#include "dataset/format/npy.h"
#include "dataset/import/array_rows.h"

namespace atl {
namespace {

/// From a source's id to its vertex.
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

/// Two integers and nothing else; none: it isn't.
std::optional<std::array<std::int64_t, 2>> pair_of(const std::string& line) {
  std::array<std::int64_t, 2> ids{};
  const char *at = line.data(), *const end = at + line.size();
  const auto skip = [&] {
    while (at != end && std::strchr(" \t\r", *at) != nullptr) ++at;
  };
  for (std::int64_t& id : ids) {
    skip();
    const auto [behind, status] = std::from_chars(at, end, id);
    if (status != std::errc()) return {};
    at = behind;
  }
  skip();
  return at == end ? std::optional(ids) : std::nullopt;
}

bool is_text(const std::string& line) {
  return std::ranges::none_of(line,
                              [](unsigned char c) { return std::iscntrl(c) != 0 && c != '\t' && c != '\r'; });
}

std::vector<VertexPair> read_text(const std::filesystem::path& path, const VertexOf& vertex_of) {
  std::ifstream file(path);
  if (!file) fail("{}: can't be read; check the path", path.string());
  std::vector<VertexPair> pairs;
  std::string line;
  for (Index number = 1; std::getline(file, line); ++number) {
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // a byte-order mark
    line = line.substr(0, line.find('#'));
    std::ranges::replace(line, ',', ' ');
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = fmt::format("{}:{}", path.string(), number);
    const auto ids = pair_of(line);
    if (!ids)
      fail("{}: {}; give two ids per line: 3 17", where,
           is_text(line) ? "'" + line + "' isn't a pair" : "that isn't text, but bytes");
    pairs.push_back({vertex_of((*ids)[0], where), vertex_of((*ids)[1], where)});
  }
  return pairs;
}

}  // namespace

std::vector<VertexPair> read_pair_file(const std::filesystem::path& path, const Dataset& dataset) {
  for (const char* other : {".gz", ".npz", ".zip", ".bz2", ".xz", ".zst", ".pt", ".parquet"})
    if (path.extension() == other)
      fail(
          "{}: pairs are read from .npy (pairs, 2), or from text with two ids per line, not from {}; unpack or convert it",
          path.string(), other);
  if (std::filesystem::is_directory(path)) fail("{}: is a folder; give a file of pairs", path.string());
  const VertexOf vertex_of(dataset);
  std::vector<VertexPair> pairs =
      path.extension() == ".npy" ? read_npy(path, vertex_of) : read_text(path, vertex_of);
  if (pairs.empty()) fail("{}: there is no pair; give at least one", path.string());
  return pairs;
}

}  // namespace atl
