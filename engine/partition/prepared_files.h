// The files of a prepared graph, written in one step and mapped back.
#pragma once

#include <filesystem>

#include "dataset/format/npy.h"
#include "partition/prepared_graph.h"
#include "partition/prepared_meta.h"

namespace atl {

/// Writes the folder whole or not at all. `rows`: GraphTransforms::rows.
void write_prepared(const std::filesystem::path& folder, const std::string& identity,
                    const Prepared& prepared, bool rows);

/// A HaloGraph on disk. Spans and views live as long as the object.
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

/// Its RowsById, mapped where it is first asked for.
struct MappedRowsById {
  NpyArray columns, weights, degrees;

  GraphById view(CsrView graph) const;
  void forget() const;
};
MappedRowsById map_rows_by_id(const std::filesystem::path& folder, const std::string& prefix,
                              const MappedHaloGraph& graph);

/// Reads every file and compares its SHA-256. Throws Error naming the first that differs, and the remedy.
void verify_prepared(const std::filesystem::path& folder, const PreparedMeta& meta);

}  // namespace atl
