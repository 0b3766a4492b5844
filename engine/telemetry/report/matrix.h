// Heat maps of a report: who sends to whom, what is taken for what.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace atl {

/// A square matrix, row-major.
struct HeatMap {
  int size = 0;
  std::vector<double> values;     // what the pointer shows: bytes or vertices
  std::vector<double> intensity;  // 0 … 1: how strongly a cell is coloured
  bool mistakes = false;          // off-diagonal cells in another colour: they are errors
  bool bytes = false;             // values are bytes, else counts
  std::string row_title, column_title, row_word,
      column_word;           // of the axes; of an entry: "rank", "true class"
  std::vector<int> borders;  // a line before these rows and columns: where another server begins
};

/// Sums blocks of neighbours so that at most `most` rows are left; the step is returned.
int coarsen(std::vector<std::int64_t>& values, int& size, int most);

/// Bytes by pair of ranks (ranks × ranks), row sent to column. Empty without any.
std::string bytes_map(std::span<const std::int64_t> bytes, std::span<const std::string> hosts);

/// Vertices by class and predicted class, coloured by share of the row. Empty without classes.
std::string confusion_map(std::span<const std::int64_t> counts, int classes);

}  // namespace atl
