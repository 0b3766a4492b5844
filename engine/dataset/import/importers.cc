#include "dataset/import/importers.h"

#include <array>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "dataset/export.h"

namespace atl {
namespace {

constexpr bool kFolder = true, kFile = false, kRowNumbers = true;

constexpr std::array<ImporterEntry, 8> kImporters{{
    {"npy", import_npy, "folder of edges.npy, features.npy or .npz, labels.npy, split*.npz, meta.json",
     kFolder, kRowNumbers},
    {"planetoid", import_planetoid,
     "folder of ind.NAME.{x,tx,allx,y,ty,ally,graph,test.index} (Cora, CiteSeer, PubMed)"},
    {"graphsaint", import_graphsaint, "folder of adj_full.npz, class_map.json, role.json, feats.npy"},
    {"ogb", import_ogb,
     "folder of edge.csv.gz, num-node-list.csv.gz, node-feat.csv.gz, node-label.csv.gz, split/; or of data.npz "
     "(ogbn-papers100M); or one relation of several types of vertices",
     kFolder, kRowNumbers},
    {"snap", import_snap, "edge list: two ids per line, # comments, text or .gz", kFile},
    {"matrixmarket", import_matrixmarket, "one .mtx or .mtx.gz file, coordinate, general or symmetric",
     kFile},
    {"adjacency", import_adjacency,
     "adjacency list: a vertex and its neighbours per line, # comments, text or .gz", kFile},
    {"metis", import_metis, "METIS graph file, text or .gz", kFile},
}};

/// Other names under which people look for a format, and names of formats that aren't read.
struct OtherName {
  std::string_view name, says;
};
constexpr std::string_view kNotRead =
    "isn't read, as only its framework can: the lines of Python that save such a graph for --format npy stand in "
    "docs/datasets.md, Formats";
constexpr std::string_view kNoXml = "isn't read: write an edge list for --format snap, two ids per line";
constexpr std::string_view kTables =
    "isn't read: two columns of ids are an edge list (--format snap), separated by commas too; with features or labels "
    "use the arrays of --format npy (docs/datasets.md)";
constexpr OtherName kOtherNames[] = {
    {"pyg", kNotRead},
    {"pt", kNotRead},
    {"torch", kNotRead},
    {"dgl", kNotRead},
    {"bin", kNotRead},
    {"pickle", kNotRead},
    {"graphml", kNoXml},
    {"gexf", kNoXml},
    {"gml", kNoXml},
    {"json", kNoXml},
    {"neo4j", kNoXml},
    {"csv", kTables},
    {"tsv", kTables},
    {"parquet", kTables},
    {"hdf5", kTables},
    {"edgelist", "is 'snap'"},
    {"edges", "is 'snap'"},
    {"txt", "is 'snap'"},
    {"konect", "is 'snap'"},
    {"mtx", "is 'matrixmarket'"},
    {"mm", "is 'matrixmarket'"},
    {"adjlist", "is 'adjacency'"},
    {"graph", "is 'metis'"},
    {"chaco", "is 'metis'"},
    {"npz", "is 'npy'"},
    {"numpy", "is 'npy'"},
    {"saint", "is 'graphsaint'"},
    {"cora", "is 'planetoid'"},
};

const ImporterEntry& find_importer(std::string_view format) {
  for (const ImporterEntry& entry : kImporters) {
    if (entry.format == format) return entry;
  }
  std::vector<std::string> known;
  for (const ImporterEntry& entry : kImporters) known.emplace_back(entry.format);
  for (const OtherName& other : kOtherNames) {
    if (other.name == format) fail("--format: '{}' {} (known: {})", format, other.says, joined(known, ", "));
  }
  fail("--format: {} is unknown{}", in_quotes(format), suggestion(std::string(format), known));
}

/// Throws Error for a file where a folder is wanted; importers that read files refuse folders themselves.
void expect_folder(const ImporterEntry& importer, const std::filesystem::path& source) {
  if (!importer.is_folder || std::filesystem::is_directory(source)) return;
  fail("{}: is a file; format '{}' reads a {}: give the folder", source.string(), importer.format,
       importer.help);
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
  expect_folder(importer, source);
  if (options.one_based && !importer.ids_are_row_numbers) {
    fail(
        "--one-based: format '{}' needs none: its ids are mapped or counted as the format says; leave it out",
        format);
  }
  if (options.given_edges && importer.import != import_npy)
    fail("--edge-split given: format '{}' has no edge split; draw one with --edge-split random:85/5/10",
         format);
  if (options.replace) check_replaceable(place, Replaceable::kDataset, {source});
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
