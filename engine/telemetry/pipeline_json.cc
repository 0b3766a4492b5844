#include "telemetry/pipeline_json.h"

#include <nlohmann/json.hpp>

namespace atl {

using Json = nlohmann::ordered_json;

Json to_json(const std::optional<PipelineEpoch>& pipeline) {
  if (!pipeline) return nullptr;
  Json stages = Json::array();
  for (const auto& chunks : pipeline->stages) {
    Json& stage = stages.emplace_back(Json::array());
    for (const ChunkWork& c : chunks)
      stage.push_back({c.chunk, c.forward_begin, c.forward_end, c.backward_begin, c.backward_end});
  }
  return {{"epoch", pipeline->epoch},
          {"bubble", pipeline->bubble},
          {"convolutions", pipeline->convolutions},
          {"stages", std::move(stages)}};
}

void from_json(const Json& json, std::optional<PipelineEpoch>& pipeline) {
  if (json.is_null()) return;
  pipeline.emplace();
  json.at("epoch").get_to(pipeline->epoch);
  json.at("bubble").get_to(pipeline->bubble);
  json.at("convolutions").get_to(pipeline->convolutions);
  for (const Json& stage : json.at("stages")) {
    auto& chunks = pipeline->stages.emplace_back();
    for (const Json& c : stage) chunks.push_back({c.at(0), c.at(1), c.at(2), c.at(3), c.at(4)});
  }
}

}  // namespace atl
