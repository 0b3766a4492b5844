// meta.json of a prepared graph: what it was made from and what its files must be.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "partition/prepare.h"

namespace atl {

struct PreparedMeta {
  std::string identity;  // everything that the prepared graph depends on, spelled out (see identity_of)
  std::vector<Index> part_offsets, slice_offsets;
  PartitionQuality quality;
  std::map<std::string, std::string> checksums;  // file → SHA-256 in hex
};

/// One line of JSON: format, data set's checksum, partitioner, parts, seed, objective, transforms, training
/// vertices.
std::string identity_of(const std::string& dataset_checksum, const PartitionOptions& options,
                        const GraphTransforms& transforms, std::span<const std::uint8_t> training);

std::string to_json(const PreparedMeta& meta);
/// One line for `--json`: {"event":"partition","parts":…,"partitioner":…,"objective":…,"seed":…, the quality
/// with meta.json's names, "haloRatio": rows exchanged a layer per vertex,
/// "balanceVertices":…,"balanceArcs":…, "balanceTraining":…,"folder":…}.
std::string partition_event(const PartitionOptions& options, const PartitionQuality& quality,
                            const std::filesystem::path& folder);
/// Throws Error naming the file when it isn't what to_json() writes.
PreparedMeta read_prepared_meta(const std::filesystem::path& path);

}  // namespace atl
