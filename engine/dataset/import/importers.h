// Importers. Each reads one format and hands its parts to a DatasetWriter. A new one takes one file and one
// line in importers.cc.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dataset/writer.h"

// In every format an arc u → v means that v reads u. The first id of a pair is the source, and so is a
// matrix's row.
namespace atl {

struct ImportOptions {
  enum class Choice { kAuto, kYes, kNo };  // auto: as is standard for the format

  std::string name;  // of the data set; empty: the destination folder's. Planetoid: "cora", …
  Choice symmetrise = Choice::kAuto;
  bool transpose = false;  // reverse every arc
  bool weights = false;    // keep the arcs' weights if the source has them
  bool remove_self_loops = false;
  bool one_based = false;  // ids count from 1: npy and ogb
  bool relabel = false;    // this and the next options are as in WriterOptions
  std::optional<DrawnSplit> split;
  bool given_edges = false;  // take the edge split from edge_split.npz; npy only
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
  std::string_view help;             // one line: the contents of the source
  bool is_folder = true;             // … whether the source is a folder or a file
  bool ids_are_row_numbers = false;  // from 0, or from 1 if asked
};

/// All formats, in the order in which help lists them.
std::span<const ImporterEntry> importers();

/// Imports `source` into the folder `place`. After an Error nothing is left at `place`. For an unknown format
/// that people are known to have, the Error says what to do; otherwise it suggests the nearest known name.
/// `warning` is told of results that the user may not want.
DatasetMeta import_dataset(std::string_view format, const std::filesystem::path& source,
                           const std::filesystem::path& place, const ImportOptions& options,
                           const ProgressLine& progress = {}, const ProgressLine& warning = {});

/// Whether to symmetrise: as the user chose, or `standard` for auto.
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
