#include "telemetry/explained_figures.h"

#include <nlohmann/json.hpp>
#include <string>

namespace atl {
namespace {

using Json = nlohmann::ordered_json;
using Named = std::vector<ExplainedFigures::Named>;

Json named_json(const Named& all) {
  Json json = Json::array();
  for (const auto& [id, mask] : all) json.push_back({id, mask});
  return json;
}

Named named_of(const Json& json) {
  Named all;
  for (const Json& each : json) all.push_back({each.at(0), each.at(1)});
  return all;
}

Json json_of(const ExplainedFigures& f) {
  return {{"others", f.others},
          {"features", f.features},
          {"chosen", f.chosen},
          {"vertices", named_json(f.vertices)},
          {"columns", named_json(f.columns)},
          {"vertexMasks", {f.least_vertex, f.middle_vertex}},
          {"columnMasks", {f.least_column, f.middle_column}},
          {"epochs", f.epochs},
          {"loss", {f.first_loss, f.loss}},
          {"seconds", f.seconds},
          {"explanations", f.explanations}};
}

ExplainedFigures figures_of(const Json& json) {
  ExplainedFigures f;
  json.at("others").get_to(f.others), json.at("features").get_to(f.features);
  json.at("chosen").get_to(f.chosen);
  f.vertices = named_of(json.at("vertices")), f.columns = named_of(json.at("columns"));
  f.least_vertex = json.at("vertexMasks").at(0), f.middle_vertex = json.at("vertexMasks").at(1);
  f.least_column = json.at("columnMasks").at(0), f.middle_column = json.at("columnMasks").at(1);
  json.at("epochs").get_to(f.epochs);
  f.first_loss = json.at("loss").at(0), f.loss = json.at("loss").at(1);
  json.at("seconds").get_to(f.seconds), json.at("explanations").get_to(f.explanations);
  return f;
}

}  // namespace

Json to_json(const std::vector<ExplainedFigures>& ranks) {
  Json json = Json::array();
  for (const ExplainedFigures& each : ranks) json.push_back(json_of(each));
  return json;
}

void from_json(const Json& json, std::vector<ExplainedFigures>& ranks) {
  for (const Json& each : json) ranks.push_back(figures_of(each));
}

void gather_explained(Communicator& comm, const ExplainedFigures& mine, RunRecord& record) {
  const std::string text = json_of(mine).dump();
  const auto all = comm.all_gather(Traffic::kStatistics, std::as_bytes(std::span(text)));
  if (comm.rank() != 0) return;
  for (const auto& bytes : all) {
    const auto* const first = reinterpret_cast<const char*>(bytes.data());
    record.explained.push_back(figures_of(Json::parse(first, first + bytes.size())));
  }
}

}  // namespace atl
