// The parts that a report is made of, each of which draws one thing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "telemetry/record.h"

namespace atl {

/// How a report writes a number; report_script() knows the same names.
enum class NumberFormat { kPlain, kPercent, kSeconds, kBytes, kCount };
std::string format_number(NumberFormat format, double value);
/// A round number without needless zeros: "6 ms".
std::string format_tick(NumberFormat format, double value);
const char* format_name(NumberFormat format);

/// Text as it may stand in HTML, attributes included.
std::string html_escape(const std::string& text);

const char* report_style();
const char* report_script();

/// One curve; a value that isn't finite is left out.
struct Series {
  std::string name;
  int colour = 1;         // 1 … 8: the page's palette
  std::vector<double> y;  // as many as the chart has epochs
};

struct Chart {
  std::string title;
  NumberFormat format = NumberFormat::kPlain;
  std::vector<Index> epochs = {};    // ascending
  std::vector<double> seconds = {};  // at the end of each: drawn by time instead; empty: by epoch
  std::vector<Series> series = {};
  Index mark = 0;  // an epoch to point out; 0: none
  double cap = 0;  // larger values are drawn at the upper edge; 0: all are shown as they are
};

/// The epochs to draw: all where there are few, else those at which some curve has its least or largest value
/// within one of `buckets` equal stretches, so that no spike is lost.
std::vector<std::size_t> thin(const Chart& chart, std::size_t buckets);

/// Round numbers that divide low … high into about `count` steps.
std::vector<double> axis_ticks(double low, double high, int count);

/// A <figure>; empty where no curve has a value.
std::string line_chart(const Chart& chart);

/// A <figure>; more than 64 ranks are shown as means over neighbours. Empty without phases.
std::string phase_bars(const std::vector<std::vector<Phase>>& phases_by_rank);

/// A <figure>, a bar for each server and in it a piece for each of its ranks; more than 64 servers as means over neighbours. Empty
/// without figures.
std::string memory_bars(const RunRecord& run);

/// Cards with a chart each; empty without epochs.
std::string report_curves(const RunRecord& run);

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

/// The five most frequent mistakes, worst first. Empty without any.
std::string confused_pairs(const ConfusionMatrix& confusion);

/// Metrics of the test pairs. Empty without them.
std::string links_table(const std::optional<LinkMetrics>& links);

/// Bytes within and between servers, and the busiest pair of ranks. Empty without bytes by pair.
std::string traffic_table(const RunRecord& run);

/// A <figure> with a bar for each stage. Empty without a pipeline.
std::string stage_bars(const RunRecord& run);

/// Of each rank the vertices of other ranks and the features that matter most to it, and what explaining took. Empty without any.
std::string explained_tables(const RunRecord& run);

}  // namespace atl
