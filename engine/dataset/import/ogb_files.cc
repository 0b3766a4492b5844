#include "dataset/import/ogb_files.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNameBetween = "___";

struct Relation {
  std::string from, to;
};

/// The relation of a folder named author___writes___paper; its names are empty for any other folder.
Relation relation_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const std::size_t first = name.find(kNameBetween), last = name.rfind(kNameBetween);
  if (folder.parent_path().filename() != "relations" || first == std::string::npos || first == last)
    return {};
  return {name.substr(0, first), name.substr(last + kNameBetween.size())};
}

/// Folders of relations that join vertices of one type, as a user would give them.
std::vector<std::string> relations_of_one_type(const fs::path& raw) {
  std::vector<std::string> found;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(raw / "relations", absent)) {
    const Relation relation = relation_of(entry.path());
    if (!relation.from.empty() && relation.from == relation.to) found.push_back(entry.path().string());
  }
  std::ranges::sort(found);
  return found;
}

[[noreturn]] void fail_of_several_types(const std::string& what, const fs::path& raw) {
  const std::vector<std::string> fitting = relations_of_one_type(raw);
  fail("{}; Atoll trains on one type: {}", what,
       fitting.empty() ? "no relation here joins vertices of one type"
                       : fmt::format("give {}", joined(fitting, " or ")));
}

OgbFiles files_of_relation(const fs::path& folder, const Relation& relation) {
  const fs::path raw = folder.parent_path().parent_path();
  if (relation.from != relation.to)
    fail_of_several_types(fmt::format("{}: joins vertices of two types, {} and {}", folder.string(),
                                      relation.from, relation.to),
                          raw);
  const std::string& type = relation.from;
  return {folder, raw / "node-feat" / type, raw / "node-label" / type, raw.parent_path() / "split", type, {}};
}

/// The file has two lines: the types' names and their numbers of vertices.
Index vertices_of_type(const fs::path& raw, const std::string& type) {
  const fs::path path = find_text_file(raw / "num-node-dict.csv");
  if (path.empty())
    fail("{}: has no num-node-dict.csv.gz; copy or download the data set again", raw.string());
  LineReader lines(path);
  std::string_view line, field;
  std::ptrdiff_t column = -1;
  if (lines.next(line)) {
    Fields names(line, ',');
    for (std::ptrdiff_t at = 0; names.next(field); ++at)
      if (field == type) column = at;
  }
  if (column < 0)
    fail("{}: has no vertices of type {}; copy or download the data set again", path.string(),
         in_quotes(type));
  if (lines.next(line)) {
    Fields counts(line, ',');
    for (std::ptrdiff_t at = 0; counts.next(field); ++at)
      if (at == column) return parse_integer(field, lines);
  }
  fail("{}: has no number of vertices for type {}; copy or download the data set again", path.string(),
       in_quotes(type));
}

}  // namespace

OgbFiles find_ogb_files(const fs::path& source) {
  const fs::path folder = fs::absolute(source / "").lexically_normal().parent_path();
  if (const Relation relation = relation_of(folder); !relation.from.empty())
    return files_of_relation(folder, relation);
  const bool has_raw = fs::is_directory(folder / "raw");
  const fs::path raw = has_raw ? folder / "raw" : folder;
  const fs::path types = find_text_file(raw / "triplet-type-list.csv");
  if (!types.empty())
    fail_of_several_types(
        fmt::format("{}: is a graph of several types of vertices ({})", folder.string(), types.string()),
        raw);
  const fs::path splits =
      has_raw || fs::is_directory(folder / "split") ? folder / "split" : folder.parent_path() / "split";
  const fs::path archive = raw / "data.npz";
  for (const char* text : {"edge.csv", "node-feat.csv", "node-label.csv"})
    if (const fs::path other = find_text_file(raw / text); !other.empty()) expect_not_both(archive, other);
  return {raw, raw, raw, splits, "", fs::exists(archive) ? archive : fs::path()};
}

Index read_ogb_vertices(const OgbFiles& files) {
  if (!files.type.empty()) return vertices_of_type(files.arcs.parent_path().parent_path(), files.type);
  const fs::path path = find_text_file(files.arcs / "num-node-list.csv");
  if (path.empty())
    fail("{}: has no num-node-list.csv.gz and no data.npz; give OGB's folder or its raw/",
         files.arcs.string());
  CsvRows rows(path);
  std::vector<double> row;
  if (!rows.next(row)) fail("{}: is empty; copy or download it again", path.string());
  const Index vertices = rows.as_integer(row[0]);
  if (rows.next(row)) fail("{}: holds several graphs; only one is supported", path.string());
  return vertices;
}

bool CsvRows::next(std::vector<double>& row) {
  std::string_view line;
  if (!lines_.next(line)) return false;
  row.clear();
  Fields fields(line, ',');
  std::string_view field;
  while (fields.next(field)) row.push_back(parse_real(field, lines_));
  if (fields_ == 0) fields_ = row.size();
  if (row.size() != fields_ || row.empty()) {
    fail("{}: has {} fields, but the first line has {}; correct the line, or copy or download the file again",
         where(), row.size(), fields_);
  }
  return true;
}

Index CsvRows::as_integer(double value) const {
  if (!(std::abs(value) < 0x1p53) || value != std::floor(value)) {
    fail("{}: {} is not a whole number; correct the line", where(), value);
  }
  return Index(value);
}

VertexId CsvRows::as_vertex(double value) const {
  const Index id = as_integer(value);
  if (id < 0 || id > (Index(1) << 31) - 2)
    fail("{}: {} is out of range; allowed are 0 … 2³¹ − 2", where(), id);
  return VertexId(id);
}

}  // namespace atl
