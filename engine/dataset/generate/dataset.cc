// Writes a generated graph as a data set on disk.
#include "dataset/generate/generate.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/text.h"
#include "dataset/arc_sorter.h"
#include "dataset/export.h"

namespace atl {
namespace {

constexpr Index kRows = 8192;  // vertices whose features are made at a time

namespace fs = std::filesystem;

/// The bytes on disk when arcs have just been sorted: those of the data set and of the sorter's file.
double disk_bytes(const CommunitySpec& spec, bool float16) {
  const double vertices = double(spec.vertices), arcs = vertices * spec.average_degree;
  const double label = spec.multi_label ? double(spec.classes) : sizeof(std::int32_t);
  const double row = double(spec.features) * (float16 ? 2 : 4) + label + 1;
  return vertices * (row + sizeof(Index)) + arcs * double(sizeof(VertexId) + sizeof(ArcRecord));
}

/// Throws Error if the disk has too little room. Called first, because a full disk would otherwise end hours
/// of work.
void check_disk(const CommunitySpec& spec, bool float16, const fs::path& place) {
  fs::path folder = fs::absolute(place).parent_path();
  while (!fs::exists(folder) && folder.has_relative_path()) folder = folder.parent_path();
  std::error_code unknown;
  const fs::space_info space = fs::space(folder, unknown);
  const double needed = disk_bytes(spec, float16);
  if (unknown || needed <= double(space.available)) return;
  fail(
      "{}: a graph of {} vertices with {:.4g} arcs and {} features each takes {} there, and {} are free: make it smaller, "
      "or free space there or choose another folder",
      place.string(), count_text(spec.vertices), spec.average_degree, count_text(spec.features),
      bytes_text(needed), bytes_text(double(space.available)));
}

RowOrigin origin(const CommunityGraph& graph, Index row) {
  return {graph.spec().name + " (generated)", row};
}

void write_features(const CommunityGraph& graph, ThreadPool& pool, DatasetWriter& writer) {
  const Index n = graph.spec().vertices, columns = graph.spec().features;
  std::vector<float> block(std::size_t(std::min(kRows, n) * columns));
  writer.begin_features(columns);
  for (Index first = 0; first < n; first += kRows) {
    const Index rows = std::min(kRows, n - first);
    pool.run(rows, [&](Index r, int) {
      graph.features(VertexId(first + r), {block.data() + r * columns, std::size_t(columns)});
    });
    writer.add_features(View<const float>(block.data(), rows, columns), origin(graph, first));
  }
}

void write_labels(const CommunityGraph& graph, ThreadPool& pool, DatasetWriter& writer) {
  const Index n = graph.spec().vertices, classes = graph.spec().classes;
  if (graph.spec().multi_label) {
    std::vector<std::uint8_t> targets(std::size_t(n * classes));
    pool.run(n, [&](Index v, int) {
      graph.targets(VertexId(v), {targets.data() + v * classes, std::size_t(classes)});
    });
    writer.set_targets(View<const std::uint8_t>(targets.data(), n, classes), origin(graph, 0));
  } else {
    std::vector<std::int32_t> labels(static_cast<std::size_t>(n));
    pool.run(n, [&](Index v, int) { labels[std::size_t(v)] = graph.label(VertexId(v)); });
    writer.set_labels(labels, int(classes), origin(graph, 0));
  }
}

void write_split(const CommunityGraph& graph, DatasetWriter& writer) {
  const Index n = graph.spec().vertices;
  std::vector<std::uint8_t> split(static_cast<std::size_t>(n));
  for (Index v = 0; v < n; ++v) split[std::size_t(v)] = std::uint8_t(graph.split(VertexId(v)));
  writer.add_split("default", View<const std::uint8_t>(split.data(), n, 1),
                   graph.spec().name + " (generated)");
}

WriterOptions writer_options(const CommunitySpec& spec, const GenerateOptions& options) {
  WriterOptions out;
  out.name = spec.name;
  out.symmetrise = true;
  out.float16 = options.float16;
  out.replace = options.replace;
  out.threads = options.threads;
  out.progress = options.progress;
  return out;
}

}  // namespace

DatasetMeta generate_dataset(const CommunitySpec& spec, const std::filesystem::path& place,
                             const GenerateOptions& options) {
  check(spec);
  if (options.replace) check_replaceable(place, Replaceable::kDataset);
  check_disk(spec, options.float16, place);
  const CommunityGraph graph(spec);
  DatasetWriter writer(place, writer_options(spec, options));
  ThreadPool pool(options.threads > 0 ? options.threads : available_cores());
  writer.set_vertices(spec.vertices);
  writer.set_source(fmt::format("generated: {} vertices, average degree {}, homophily {}, seed {}",
                                spec.vertices, spec.average_degree, spec.homophily, spec.seed),
                    "generated data: free of rights");
  graph.edges(pool, [&](std::span<const VertexId> from, std::span<const VertexId> to) {
    writer.add_arcs(from, to, {}, origin(graph, 0));
  });
  write_features(graph, pool, writer);
  write_labels(graph, pool, writer);
  write_split(graph, writer);
  return writer.finish();
}

}  // namespace atl
