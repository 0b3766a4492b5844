// The files of a prepared graph: written as a whole, and memory-mapped.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dataset/format/npy.h"
#include "partition/prepare.h"
#include "partition/prepared_graph.h"

namespace atl {

// meta.json of a prepared graph: what the graph was made from, and the checksums of its files.

struct PreparedMeta {
  std::string identity;  // everything that the prepared graph depends on, spelled out (see identity_of)
  std::vector<Index> part_offsets, slice_offsets;
  PartitionQuality quality;
  std::map<std::string, std::string> checksums;  // file → SHA-256 in hex
};

/// One line of JSON: format, data set's checksum, partitioner, parts, seed, objective, transforms, training
/// vertices.
std::string identity_of(const std::string& dataset_checksum, const PartitionOptions& options,
                        const GraphTransforms& transforms, const VertexMarks& training);

std::string to_json(const PreparedMeta& meta);
/// One line for `--json`: {"event":"partition","parts":…,"partitioner":…,"objective":…,"seed":…, the quality
/// with meta.json's names, "haloRatio": rows exchanged per layer, divided by vertices,
/// "balanceVertices":…,"balanceArcs":…, "balanceTraining":…,"folder":…}.
std::string partition_event(const PartitionOptions& options, const PartitionQuality& quality,
                            const std::filesystem::path& folder);
/// Throws Error naming the file when it isn't what to_json() writes.
PreparedMeta read_prepared_meta(const std::filesystem::path& path);

/// Writes the folder whole or not at all. `rows`: GraphTransforms::rows.
void write_prepared(const std::filesystem::path& folder, const std::string& identity,
                    const Prepared& prepared, bool rows);

/// A HaloGraph on disk. Its spans and views are valid as long as the object.
struct MappedHaloGraph {
  NpyArray offsets, columns, weights, halo_offsets, halo;
  bool weighted = false;

  CsrView graph() const;
  std::span<const VertexId> halo_of(int part) const;
  void forget() const;  // as Dataset::forget()
};

/// `prefix` is "" or "induced_". Checks dtypes and shapes; throws Error naming the file.
MappedHaloGraph map_halo_graph(const std::filesystem::path& folder, const std::string& prefix, Index vertices,
                               int parts);

/// The RowsById of a MappedHaloGraph, mapped on first use.
struct MappedRowsById {
  NpyArray columns, weights, degrees;

  GraphById view(CsrView graph) const;
  void forget() const;
};
MappedRowsById map_rows_by_id(const std::filesystem::path& folder, const std::string& prefix,
                              const MappedHaloGraph& graph);

/// Several readers share the files; together they read each file once. This is reader `number` of `of`.
struct Share {
  int number = 0, of = 1;
};

/// Reads the share's files and compares their SHA-256. Throws Error naming the first that differs, and the
/// remedy.
void verify_prepared(const std::filesystem::path& folder, const PreparedMeta& meta, Share share = {});

}  // namespace atl
