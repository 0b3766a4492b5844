#include "dataset/format/csv_rows.h"

#include <cmath>

#include "base/error.h"

namespace atl {

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
