// Line charts of a report: curves over epochs as inline SVG.
#pragma once

#include <string>
#include <vector>

#include "base/types.h"
#include "telemetry/report/text.h"

namespace atl {

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

}  // namespace atl
