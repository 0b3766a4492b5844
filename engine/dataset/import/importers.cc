#include "dataset/import/importers.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"

namespace atl {
namespace {

constexpr std::array<ImporterEntry, 6> kImporters{{
    {"npy", import_npy, "folder of edges.npy, features.npy or .npz, labels.npy, split*.npz, meta.json", true},
    {"planetoid", import_planetoid,
     "folder of ind.NAME.{x,tx,allx,y,ty,ally,graph,test.index} (Cora, CiteSeer, PubMed)"},
    {"graphsaint", import_graphsaint, "folder of adj_full.npz, class_map.json, role.json, feats.npy"},
    {"ogb", import_ogb,
     "folder of edge.csv.gz, num-node-list.csv.gz, node-feat.csv.gz, node-label.csv.gz, split/", true},
    {"snap", import_snap, "edge list: two ids per line, # comments, text or .gz"},
    {"matrixmarket", import_matrixmarket, "one .mtx or .mtx.gz file, coordinate, general or symmetric"},
}};

/// Levenshtein's distance, for "did you mean".
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({change, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

const ImporterEntry& find_importer(std::string_view format) {
  for (const ImporterEntry& entry : kImporters) {
    if (entry.format == format) return entry;
  }
  std::string known;
  const ImporterEntry* nearest = &kImporters[0];
  for (const ImporterEntry& entry : kImporters) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.format);
    if (distance(format, entry.format) < distance(format, nearest->format)) nearest = &entry;
  }
  fail("format '{}' is unknown; did you mean '{}'? Known are: {}", format, nearest->format, known);
}

WriterOptions writer_options(const ImportOptions& options, const ProgressLine& progress,
                             const ProgressLine& warning) {
  WriterOptions out;
  out.name = options.name;
  out.weighted = options.weights;
  out.transpose = options.transpose;
  out.direction_is_known = options.transpose || options.symmetrise != ImportOptions::Choice::kAuto;
  out.remove_self_loops = options.remove_self_loops;
  out.relabel = options.relabel;
  out.split = options.split;
  out.edge_split = options.edge_split;
  out.disjoint = options.disjoint;
  out.seed = options.seed;
  out.made_features = options.made_features;
  out.scaling = options.scaling;
  out.float16 = options.float16;
  out.replace = options.replace;
  out.threads = options.threads;
  out.progress = progress;
  out.warning = warning;
  return out;
}

}  // namespace

std::span<const ImporterEntry> importers() {
  return kImporters;
}

DatasetMeta import_dataset(std::string_view format, const std::filesystem::path& source,
                           const std::filesystem::path& place, const ImportOptions& options,
                           const ProgressLine& progress, const ProgressLine& warning) {
  const ImporterEntry& importer = find_importer(format);
  if (!std::filesystem::exists(source))
    fail("{}: does not exist; check the path of the source", source.string());
  if (options.one_based && !importer.ids_are_row_numbers) {
    fail(
        "--one-based: format '{}' needs none: its ids are mapped or counted as the format says; leave it out",
        format);
  }
  if (options.given_edges && importer.import != import_npy)
    fail("--edge-split given: format '{}' has no edge split; draw one with --edge-split random:85/5/10",
         format);
  DatasetWriter writer(place, writer_options(options, progress, warning));
  const std::filesystem::path whole = std::filesystem::absolute(source / "").lexically_normal().parent_path();
  writer.set_source(fmt::format("{}:{}", format, whole.filename().string()), "");
  importer.import(source, options, writer);
  return writer.finish();
}

bool symmetrises(const ImportOptions& options, bool standard) {
  return options.symmetrise == ImportOptions::Choice::kAuto
             ? standard
             : options.symmetrise == ImportOptions::Choice::kYes;
}

}  // namespace atl
