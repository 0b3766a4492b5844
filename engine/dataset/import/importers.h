// Importers: each reads one format of the world and hands its parts to a DatasetWriter. A newcomer is one
// file and one line in importers.cc.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dataset/writer.h"

// Every format gives arcs u → v, and v reads u: the first id of a pair is the source, a matrix's row too.
namespace atl {

struct ImportOptions {
  enum class Choice { kAuto, kYes, kNo };  // auto: as the format's standard use has it

  std::string name;  // of the data set; empty: the destination folder's. Planetoid: "cora", …
  Choice symmetrise = Choice::kAuto;
  bool transpose = false;  // turn every arc
  bool weights = false;    // take the arcs' weights where the source has them
  bool remove_self_loops = false;
  bool one_based = false;  // ids count from 1: npy and ogb
  bool relabel = false;    // as in WriterOptions, also the next
  std::optional<DrawnSplit> split;
  bool given_edges = false;  // take edge_split.npz: npy
  std::optional<DrawnEdgeSplit> edge_split;
  std::optional<double> disjoint;
  std::uint64_t seed = 1;
  std::optional<MadeFeatures> made_features;
  FeatureScaling scaling = FeatureScaling::kNone;
  bool float16 = false;
  bool replace = false;
  int threads = 0;  // 0: all cores that this process may use
};

/// Reads `source` (a file or folder) into the writer; leaves finish() to the caller. Throws Error naming
/// file, line or row, and remedy.
using Importer = void (*)(const std::filesystem::path& source, const ImportOptions& options,
                          DatasetWriter& writer);

struct ImporterEntry {
  std::string_view format;
  Importer import;
  std::string_view help;             // one line: what lies in the source
  bool is_folder = true;             // … which is a folder, or else a file
  bool ids_are_row_numbers = false;  // from 0, or from 1 if asked
};

/// All formats, in the order in which help lists them.
std::span<const ImporterEntry> importers();

/// Imports `source` into the folder `place`. An unknown format is an Error that says what to do with it,
/// where its name is one that people have files in, or names the nearest known one.
/// After an Error nothing is left at `place`. `warning` is told what may not be as the user wants it.
DatasetMeta import_dataset(std::string_view format, const std::filesystem::path& source,
                           const std::filesystem::path& place, const ImportOptions& options,
                           const ProgressLine& progress = {}, const ProgressLine& warning = {});

/// What auto means, settled: `standard` unless the user chose.
bool symmetrises(const ImportOptions& options, bool standard);

void import_npy(const std::filesystem::path&, const ImportOptions&, DatasetWriter&);
void import_planetoid(const std::filesystem::path&, const ImportOptions&, DatasetWriter&);
void import_graphsaint(const std::filesystem::path&, const ImportOptions&, DatasetWriter&);
void import_ogb(const std::filesystem::path&, const ImportOptions&, DatasetWriter&);
void import_snap(const std::filesystem::path&, const ImportOptions&, DatasetWriter&);
void import_matrixmarket(const std::filesystem::path&, const ImportOptions&, DatasetWriter&);
void import_adjacency(const std::filesystem::path&, const ImportOptions&, DatasetWriter&);
void import_metis(const std::filesystem::path&, const ImportOptions&, DatasetWriter&);

}  // namespace atl
