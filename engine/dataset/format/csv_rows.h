// Rows of numbers in comma-separated files without a header.
#pragma once

#include <filesystem>
#include <vector>

#include "dataset/format/text.h"

namespace atl {

/// Every row has as many fields as the first; a row that has not is an Error that names file and line.
class CsvRows {
 public:
  explicit CsvRows(const std::filesystem::path& path) : lines_(path) {}

  /// False at the end. "nan" is a number here; the caller decides what it means.
  bool next(std::vector<double>& row);
  Index line() const { return lines_.line(); }
  std::string where() const { return lines_.where(); }
  /// A field as a whole number, exact up to 2⁵³.
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
