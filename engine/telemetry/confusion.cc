#include "telemetry/confusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/text.h"

namespace atl {
namespace {

std::vector<ClassCounts> by_class(const ConfusionMatrix& confusion) {
  const auto classes = std::size_t(confusion.classes);
  std::vector<ClassCounts> counts(classes);
  for (std::size_t i = 0; i < confusion.counts.size(); ++i) {
    const std::size_t actual = i / classes, predicted = i % classes;
    counts[actual].actual += confusion.counts[i];
    counts[predicted].predicted += confusion.counts[i];
    if (actual == predicted) counts[actual].hits += confusion.counts[i];
  }
  return counts;
}

}  // namespace

std::optional<Majority> majority_of(const ConfusionMatrix& confusion) {
  const auto vertices = std::accumulate(confusion.counts.begin(), confusion.counts.end(), std::int64_t(0));
  if (vertices == 0) return std::nullopt;
  const std::vector<ClassCounts> counts = by_class(confusion);
  const auto largest = std::ranges::max_element(counts, {}, &ClassCounts::actual);
  return Majority{int(largest - counts.begin()), double(largest->actual) / double(vertices)};
}

std::optional<double> majority_share(const ConfusionMatrix& confusion) {
  const std::optional<Majority> majority = majority_of(confusion);
  return majority ? std::optional(majority->share) : std::nullopt;
}

std::optional<double> f1_macro(std::span<const ClassCounts> counts) {
  double sum = 0;
  Index classes = 0;
  for (const ClassCounts& c : counts) {
    if (c.predicted + c.actual == 0) continue;
    sum += 2 * double(c.hits) / double(c.predicted + c.actual);
    ++classes;
  }
  if (classes == 0) return std::nullopt;
  return sum / double(classes);
}

std::optional<double> f1_macro(const ConfusionMatrix& confusion) {
  return f1_macro(by_class(confusion));
}

std::string beside_metric(const RunRecord& run) {
  const bool counts_right = run.setting.metric == "accuracy" || run.setting.metric == "f1Micro";
  const std::optional<Majority> majority = majority_of(run.confusion);
  if (!counts_right || !majority || majority->share < kLopsided) return "";
  return fmt::format("{} are of class {}, F1 (macro) {}", percent_text(majority->share), majority->cls,
                     percent_text(*f1_macro(run.confusion)));
}

}  // namespace atl
