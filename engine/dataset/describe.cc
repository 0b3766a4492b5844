#include "dataset/describe.h"

#include <algorithm>
#include <cmath>

#include "dataset/npy.h"

namespace atl {
namespace {

/// Maximum-likelihood exponent of the degrees at or above `lowest`, with the usual −1/2 for whole numbers.
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
  found.isolated = std::upper_bound(degrees.begin(), degrees.end(), 0) - degrees.begin();
  found.tail_exponent = fit_tail(degrees, found.p90);
  return found;
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

std::string print_features(const DatasetDescription& d) {
  if (d.meta.features == 0) return "none";
  if (d.meta.feature_nonzeros < 0) {
    return fmt::format("{}, dense {}", d.meta.features, d.half_precision_features ? "float16" : "float32");
  }
  return fmt::format("{}, sparse: {:.3f} % non-zero", d.meta.features, 100 * d.feature_density);
}

std::string print_classes(const DatasetDescription& d) {
  if (d.meta.classes == 0) return "none";
  const auto [fewest, most] = std::minmax_element(d.class_counts.begin(), d.class_counts.end());
  return fmt::format("{}{}, {} vertices labelled, {} … {} in a class", d.meta.classes,
                     d.meta.multi_label ? " (several a vertex)" : "", d.labelled, *fewest, *most);
}

}  // namespace

DatasetDescription describe(const Dataset& dataset) {
  DatasetDescription out;
  out.meta = dataset.meta();
  out.degrees = degrees_of(dataset.graph());
  if (!dataset.labels().empty()) out.homophily = label_homophily(dataset.graph(), dataset.labels());
  if (!dataset.targets().empty()) out.homophily = target_homophily(dataset.graph(), dataset.targets());
  const double elements = double(out.meta.vertices) * double(out.meta.features);
  out.feature_density =
      dataset.sparse_features() && elements > 0 ? double(out.meta.feature_nonzeros) / elements : 1;
  if (out.meta.features > 0 && !dataset.sparse_features()) {
    out.half_precision_features =
        NpyArray::open(dataset.folder() / "features.npy").dtype() == Dtype::kFloat16;
  }
  count_labels(dataset, out);
  for (const auto& [name, columns] : out.meta.splits) out.splits.push_back(count_split(dataset, name));
  for (const auto& entry : std::filesystem::directory_iterator(dataset.folder()))
    out.bytes += Index(entry.file_size());
  return out;
}

std::string print(const DatasetDescription& d) {
  std::string text;
  const auto line = [&](const char* what, const std::string& value) {
    text += fmt::format("{:<12} {}\n", what, value);
  };
  line("name", d.meta.name);
  line("vertices", fmt::format("{} ({} without arcs)", d.meta.vertices, d.degrees.isolated));
  line("arcs",
       fmt::format("{} ({}{}{} self-loops)", d.meta.arcs, d.meta.symmetric ? "symmetric, " : "directed, ",
                   d.meta.weighted ? "weighted, " : "", d.meta.self_loops));
  line("degree",
       fmt::format("mean {:.2f}, median {}, 90 % {}, 99 % {}, 99.9 % {}, largest {}", d.degrees.mean,
                   d.degrees.median, d.degrees.p90, d.degrees.p99, d.degrees.p999, d.degrees.largest));
  line("tail", fmt::format("exponent {:.2f} above degree {}", d.degrees.tail_exponent, d.degrees.p90));
  if (d.homophily >= 0) line("homophily", fmt::format("{:.3f}", d.homophily));
  line("features", print_features(d));
  line("classes", print_classes(d));
  for (const SplitStatistics& split : d.splits) {
    line("split",
         fmt::format("{}: {} train, {} validation, {} test{}", split.name, split.train, split.validation,
                     split.test, split.columns > 1 ? fmt::format(" (first of {})", split.columns) : ""));
  }
  for (const std::string& transform : d.meta.transforms) line("transform", transform);
  if (!d.meta.source.empty()) line("source", d.meta.source);
  if (!d.meta.licence.empty()) line("licence", d.meta.licence);
  line("on disk", fmt::format("{:.1f} MiB", double(d.bytes) / (1 << 20)));
  line("checksum", d.meta.checksum);
  return text;
}

}  // namespace atl
