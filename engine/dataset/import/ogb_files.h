// Where the parts of an OGB data set are: a set with one type of vertices, or one relation of a set with
// several.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/types.h"
#include "dataset/format/text.h"

namespace atl {

struct OgbFiles {
  std::filesystem::path arcs;              // folder of edge.csv, edge-feat.csv
  std::filesystem::path features, labels;  // folders of node-feat.csv and node-label.csv
  std::filesystem::path splits;            // folder with a subfolder per scheme
  std::string type;                        // the vertices' type, a folder below each scheme; empty: one type
  std::filesystem::path archive;           // data.npz, which holds arrays instead of text (ogbn-papers100M)
};

/// `source` is the data set's folder, its raw/, or raw/relations/A___relation___A. Throws Error for several
/// types of vertices, and lists the relations that can be given.
OgbFiles find_ogb_files(const std::filesystem::path& source);

/// Reads num-node-list.csv, or the relation's type from num-node-dict.csv.
Index read_ogb_vertices(const OgbFiles& files);

// Rows of numbers in comma-separated files without a header.

/// Throws Error naming file and line for a row that has not as many fields as the first.
class CsvRows {
 public:
  explicit CsvRows(const std::filesystem::path& path) : lines_(path) {}

  /// False at the end. "nan" is a number here; the caller decides what it means.
  bool next(std::vector<double>& row);
  Index line() const { return lines_.line(); }
  std::string where() const { return lines_.where(); }
  /// A field as a whole number; exact up to 2⁵³.
  Index as_integer(double value) const;
  /// A field as data sets store it; one beyond float32 is an Error.
  float as_float(double value) const { return as_float32(value, where()); }
  /// A field as an id that fits 31 bits.
  VertexId as_vertex(double value) const;

 private:
  LineReader lines_;
  std::size_t fields_ = 0;
};

}  // namespace atl
