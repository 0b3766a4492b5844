#include "dataset/catalogue/describe.h"

#include <algorithm>
#include <cmath>

#include "dataset/format/npy.h"
#include "dataset/reverse_share.h"

namespace atl {
namespace {

/// Returns the maximum-likelihood exponent of a power law for the degrees from `lowest` up. As degrees are
/// whole numbers, it takes `lowest` − 1/2 for the least, as is usual.
double fit_tail(const std::vector<Index>& ascending, Index lowest) {
  const auto first = std::lower_bound(ascending.begin(), ascending.end(), std::max<Index>(lowest, 1));
  double sum = 0;
  for (auto degree = first; degree != ascending.end(); ++degree) {
    sum += std::log(double(*degree) / (double(std::max<Index>(lowest, 1)) - 0.5));
  }
  return sum > 0 ? 1 + double(ascending.end() - first) / sum : 0;
}

DegreeStatistics degrees_of(const CsrView& graph) {
  std::vector<Index> degrees(std::size_t(graph.rows));
  for (Index v = 0; v < graph.rows; ++v) degrees[std::size_t(v)] = graph.degree(v);
  std::sort(degrees.begin(), degrees.end());
  const auto quantile = [&](double share) {
    return degrees[std::min(degrees.size() - 1, std::size_t(share * double(degrees.size())))];
  };
  DegreeStatistics found;
  found.mean = double(graph.arcs()) / double(graph.rows);
  found.median = quantile(0.5);
  found.p90 = quantile(0.9);
  found.p99 = quantile(0.99);
  found.p999 = quantile(0.999);
  found.largest = degrees.back();
  found.tail_exponent = fit_tail(degrees, found.p90);
  return found;
}

void count_one_sided(const CsrView& graph, DegreeStatistics& out) {
  std::vector<bool> is_read(std::size_t(graph.rows));
  for (Index v = 0; v < graph.rows; ++v) {
    for (VertexId u : graph.row(v)) is_read[std::size_t(u)] = true;
  }
  for (Index v = 0; v < graph.rows; ++v) {
    if (graph.degree(v) == 0) ++(is_read[std::size_t(v)] ? out.sources_only : out.isolated);
  }
}

double reverse_share_of(const CsrView& graph) {
  ReverseShare counted(graph.arcs());
  for (Index v = 0; v < graph.rows; ++v) {
    for (VertexId u : graph.row(v)) counted.add(VertexId(v), u);
  }
  return counted.share();
}

double label_homophily(const CsrView& graph, std::span<const std::int32_t> labels) {
  Index same = 0, compared = 0;
  for (Index v = 0; v < graph.rows; ++v) {
    const std::int32_t label = labels[std::size_t(v)];
    if (label < 0) continue;
    for (VertexId u : graph.row(v)) {
      compared += labels[std::size_t(u)] >= 0;
      same += labels[std::size_t(u)] == label;
    }
  }
  return compared == 0 ? -1 : double(same) / double(compared);
}

double target_homophily(const CsrView& graph, View<const std::uint8_t> targets) {
  double sum = 0;
  Index compared = 0;
  for (Index v = 0; v < graph.rows; ++v) {
    for (VertexId u : graph.row(v)) {
      int both = 0, either = 0;
      for (Index c = 0; c < targets.cols; ++c) {
        both += targets.at(v, c) & targets.at(u, c);
        either += targets.at(v, c) | targets.at(u, c);
      }
      if (either == 0) continue;
      sum += double(both) / either;
      ++compared;
    }
  }
  return compared == 0 ? -1 : sum / double(compared);
}

void count_labels(const Dataset& dataset, DatasetDescription& out) {
  out.class_counts.assign(std::size_t(out.meta.classes), 0);
  for (std::int32_t label : dataset.labels()) {
    if (label < 0) continue;
    ++out.labelled;
    ++out.class_counts[std::size_t(label)];
  }
  const View<const std::uint8_t> targets = dataset.targets();
  if (!targets.empty()) out.labelled = targets.rows;
  for (Index v = 0; v < targets.rows; ++v) {
    for (Index c = 0; c < targets.cols; ++c) out.class_counts[std::size_t(c)] += targets.at(v, c);
  }
}

SplitStatistics count_split(const Dataset& dataset, const std::string& name) {
  const View<const std::uint8_t> split = dataset.split(name);
  SplitStatistics found{name, int(split.cols)};
  for (Index v = 0; v < split.rows; ++v) {
    found.train += split.at(v, 0) == std::uint8_t(Split::kTrain);
    found.validation += split.at(v, 0) == std::uint8_t(Split::kValidation);
    found.test += split.at(v, 0) == std::uint8_t(Split::kTest);
  }
  return found;
}

}  // namespace

DatasetDescription describe(const Dataset& dataset) {
  DatasetDescription out;
  out.meta = dataset.meta();
  out.degrees = degrees_of(dataset.graph());
  count_one_sided(dataset.graph(), out.degrees);
  if (!out.meta.symmetric) out.reverse_share = reverse_share_of(dataset.graph());
  if (!dataset.labels().empty()) out.homophily = label_homophily(dataset.graph(), dataset.labels());
  if (!dataset.targets().empty()) out.homophily = target_homophily(dataset.graph(), dataset.targets());
  const double elements = double(out.meta.vertices) * double(out.meta.features);
  out.feature_density =
      out.meta.feature_nonzeros >= 0 && elements > 0 ? double(out.meta.feature_nonzeros) / elements : 1;
  if (out.meta.features > 0 && out.meta.feature_form == FeatureForm::kDense) {
    out.half_precision_features =
        NpyArray::open(dataset.folder() / "features.npy").dtype() == Dtype::kFloat16;
  }
  count_labels(dataset, out);
  for (const auto& [name, columns] : out.meta.splits) out.splits.push_back(count_split(dataset, name));
  for (const auto& entry : std::filesystem::directory_iterator(dataset.folder()))
    if (entry.is_regular_file()) out.bytes += Index(entry.file_size());
  out.published = compare_with_published(out.meta);
  out.preset = preset_of(out.meta);
  return out;
}

}  // namespace atl
