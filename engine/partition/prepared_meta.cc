#include "partition/prepared_meta.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "base/sha256.h"

namespace atl {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;  // raised when files or numbering change, so that older ones are made anew

std::string name_of(GraphTransforms::SelfLoops loops) {
  using enum GraphTransforms::SelfLoops;
  return loops == kKeep ? "keep" : loops == kAdd ? "add" : "remove";
}

std::string checksum_of(std::span<const std::uint8_t> training) {
  return sha256_hex({reinterpret_cast<const char*>(training.data()), training.size()});
}

json to_json(const PartitionQuality& q) {
  return {{"cutArcs", q.cut_arcs},  {"volume", q.volume}, {"owned", q.owned},      {"halo", q.halo},
          {"boundary", q.boundary}, {"arcs", q.arcs},     {"training", q.training}};
}

PartitionQuality quality_from(const json& j) {
  PartitionQuality q;
  j.at("cutArcs").get_to(q.cut_arcs);
  j.at("volume").get_to(q.volume);
  j.at("owned").get_to(q.owned);
  j.at("halo").get_to(q.halo);
  j.at("boundary").get_to(q.boundary);
  j.at("arcs").get_to(q.arcs);
  j.at("training").get_to(q.training);
  q.set_balances();
  return q;
}

}  // namespace

std::string identity_of(const std::string& dataset_checksum, const PartitionOptions& options,
                        const GraphTransforms& transforms, std::span<const std::uint8_t> training) {
  json identity{{"format", kFormat},
                {"dataset", dataset_checksum},
                {"partitioner", options.kind},
                {"parts", options.parts},
                {"seed", options.seed},
                {"objective", options.objective},
                {"symmetrise", transforms.symmetrise},
                {"selfLoops", name_of(transforms.self_loops)},
                {"induced", transforms.induced},
                {"training", checksum_of(training)}};
  if (transforms.by_id)
    identity["byId"] = true;  // where it isn't asked for, graphs that are there already serve
  if (transforms.rows) identity["rows"] = true;
  if (options.groups > 1) identity["groups"] = options.groups;
  if (options.slices > 1) identity["slices"] = options.slices;  // likewise
  return identity.dump();
}

std::string to_json(const PreparedMeta& meta) {
  return json{{"identity", json::parse(meta.identity)},
              {"partOffsets", meta.part_offsets},
              {"sliceOffsets", meta.slice_offsets},
              {"quality", to_json(meta.quality)},
              {"files", meta.checksums}}
      .dump(1);
}

std::string partition_event(const PartitionOptions& options, const PartitionQuality& quality,
                            const std::filesystem::path& folder) {
  nlohmann::ordered_json event{{"event", "partition"},
                               {"parts", options.parts},
                               {"partitioner", options.kind},
                               {"objective", options.objective},
                               {"seed", options.seed}};
  const json stored = to_json(quality);
  for (const auto& [key, value] : stored.items()) event[key] = value;
  const Index vertices = std::accumulate(quality.owned.begin(), quality.owned.end(), Index(0));
  event["haloRatio"] = double(quality.volume) / double(vertices);
  event["balanceVertices"] = quality.balance_vertices;
  event["balanceArcs"] = quality.balance_arcs;
  event["balanceTraining"] = quality.balance_training;
  event["folder"] = folder.string();
  return event.dump(-1, ' ', false, json::error_handler_t::replace);
}

PreparedMeta read_prepared_meta(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) fail("{}: cannot be read; remove the folder, and the next run creates it again", path.string());
  try {
    const json j = json::parse(file);
    PreparedMeta meta{
        j.at("identity").dump(), j.at("partOffsets"), {}, quality_from(j.at("quality")), j.at("files")};
    meta.slice_offsets = j.value("sliceOffsets", meta.part_offsets);  // older ones have none: a slice a part
    return meta;
  } catch (const json::exception& e) {
    fail("{}: is damaged ({}); remove the folder, and the next run creates it again", path.string(),
         e.what());
  }
}

}  // namespace atl
