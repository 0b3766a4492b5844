// A description of a data set as lines for a terminal.

#include <fmt/format.h>
#include <algorithm>
#include <span>

#include "base/text.h"
#include "dataset/catalogue/describe.h"
#include "dataset/dataset.h"

namespace atl {
namespace {

std::string arcs_text(const DatasetDescription& d) {
  const std::string direction =
      d.meta.symmetric ? "symmetric"
                       : fmt::format("directed, {:.0f} % of them have their reverse", 100 * d.reverse_share);
  return fmt::format("{} ({}, {}{} self-loops)", count_text(d.meta.arcs), direction,
                     d.meta.weighted ? "weighted, " : "", count_text(d.meta.self_loops));
}

std::string vertices_text(const DatasetDescription& d) {
  const std::string isolated = count_text(d.degrees.isolated) + " without arcs";
  return fmt::format(
      "{} ({}{})", count_text(d.meta.vertices), isolated,
      d.meta.symmetric ? "" : fmt::format(", {} more read from nobody", count_text(d.degrees.sources_only)));
}

std::string degrees_text(const DegreeStatistics& s) {
  return fmt::format("mean {:.2f}, median {}, 90 % {}, 99 % {}, 99.9 % {}, largest {}", s.mean, s.median,
                     s.p90, s.p99, s.p999, s.largest);
}

std::string features_text(const DatasetDescription& d) {
  if (d.meta.features == 0) return "none";
  const std::string columns = count_text(d.meta.features);
  if (d.meta.feature_form == FeatureForm::kDense) {
    return fmt::format("{}, dense {}", columns, d.half_precision_features ? "float16" : "float32");
  }
  return fmt::format("{}, {}: {:.3f} % non-zero", columns, to_string(d.meta.feature_form),
                     100 * d.feature_density);
}

std::string classes_text(const DatasetDescription& d) {
  if (d.meta.classes == 0) return "none";
  const auto [fewest, most] = std::minmax_element(d.class_counts.begin(), d.class_counts.end());
  return fmt::format("{}{}, {} vertices labelled, {} … {} in a class", d.meta.classes,
                     d.meta.multi_label ? " (several per vertex)" : "", count_text(d.labelled),
                     count_text(*fewest), count_text(*most));
}

/// The first ten of the source's names of classes.
std::string class_names_text(std::span<const std::string> names) {
  const std::size_t shown = std::min<std::size_t>(names.size(), 10);
  return fmt::format("{}{}", joined(names.first(shown), ", "), shown < names.size() ? ", …" : "");
}

std::string split_text(const SplitStatistics& split) {
  return fmt::format("{}: {} train, {} validation, {} test{}", split.name, count_text(split.train),
                     count_text(split.validation), count_text(split.test),
                     split.columns > 1 ? fmt::format(" (first of {})", split.columns) : "");
}

std::string pairs_text(const PairCounts& pairs) {
  if (!pairs.any()) return "";
  const auto count = [&](PairSet set) { return count_text(pairs.of[std::size_t(set)]); };
  const std::string supervised =
      pairs.supervised == pairs.of[0]
          ? ""
          : fmt::format(" ({} trained on, without messages)", count_text(pairs.supervised));
  return fmt::format("{} train{}, {} validation, {} test; negative: {} validation, {} test",
                     count(PairSet::kTrain), supervised, count(PairSet::kValidation), count(PairSet::kTest),
                     count(PairSet::kValidationNegative), count(PairSet::kTestNegative));
}

/// The properties of the imitated real graph that a generated one can miss.
std::string preset_text(const Preset& preset) {
  const CommunitySpec& real = preset.spec;
  return fmt::format(
      "{}; the real graph: {} vertices, mean degree {:.2f}, largest {}, homophily {}; stated: tail {}",
      real.name, count_text(real.vertices), real.average_degree, count_text(Index(real.largest_degree)),
      real.homophily, real.tail_exponent);
}

std::string boundary_text(const BoundaryRatio& boundary) {
  return fmt::format("{} parts: each vertex needs {} remote rows on average ({})", boundary.parts,
                     boundary.ratio, boundary.source);
}

}  // namespace

std::string to_text(const DatasetDescription& d) {
  std::string text;
  const auto line = [&](const char* what, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<12} {}\n", what, value);
  };
  line("name", d.meta.name);
  if (d.published) line("counts", to_text(*d.published));
  line("vertices", vertices_text(d));
  line("arcs", arcs_text(d));
  line("degree", degrees_text(d.degrees));
  line("tail", fmt::format("exponent {:.2f} above degree {}", d.degrees.tail_exponent, d.degrees.p90));
  if (d.homophily >= 0) line("homophily", fmt::format("{:.3f}", d.homophily));
  line("features", features_text(d));
  line("classes", classes_text(d));
  line("labels", class_names_text(d.meta.class_names));
  for (const SplitStatistics& split : d.splits) line("split", split_text(split));
  line("edges", pairs_text(d.meta.pairs));
  for (const std::string& transform : d.meta.transforms) line("transform", transform);
  line("source", d.meta.source);
  line("licence", d.meta.licence);
  if (d.preset) line("preset", preset_text(*d.preset));
  if (d.preset) {
    for (const BoundaryRatio& boundary : d.preset->boundary) line("real graph", boundary_text(boundary));
  }
  line("on disk", bytes_text(double(d.bytes)));
  line("checksum", d.meta.checksum);
  return text;
}

}  // namespace atl
