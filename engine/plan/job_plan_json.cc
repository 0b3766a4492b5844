// A plan as one JSON object: {"event":"plan", …}.
#include "base/json.h"
#include "job/job.h"
#include "plan/strategy_plan.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

Json traffic_json(const TrafficBytes& bytes) {
  Json all = Json::object();
  for (std::size_t p = 0; p < bytes.size(); ++p) {
    if (bytes[p] > 0) all[traffic_name(Traffic(p))] = bytes[p];
  }
  return all;
}

Json parts_json(const EvaluationParts& parts) {
  Json all = Json::object();
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (parts[p] > 0) all[kEvaluationPartNames[p]] = parts[p];
  return all;
}

const char* name_of(PlannedFrom from) {
  switch (from) {
    case PlannedFrom::kPrepared:
      break;
    case PlannedFrom::kDataset:
      return "dataset";
    case PlannedFrom::kAssumedParts:
      return "datasetAssumedParts";
  }
  return "preparedGraph";
}

Json rank_json(const RankPlan& r) {
  Json memory = Json::object();
  for (const MemoryItem& item : r.memory.items) memory[item.name] = item.bytes;
  return {{"owned", r.shape.owned},
          {"halo", r.shape.halo},
          {"arcs", r.shape.arcs()},
          {"memory", memory},
          {"mappedBytes", r.memory.mapped},
          {"loadingBytes", r.memory.loading},
          {"trainingBytes", r.memory.training},
          {"passesBytes", r.memory.passes},
          {"inferenceBytes", r.memory.inference},
          {"pageCacheBytes", r.memory.pages},
          {"sumsFileBytes", r.memory.file},
          {"checkpointBytes", r.memory.checkpoint},
          {"resultsBytes", r.memory.results},
          {"peakBytes", r.memory.peak()},
          {"epochBytes", traffic_json(r.epoch)},
          {"evaluationBytes", traffic_json(r.evaluation)},
          {"evaluationParts", parts_json(r.evaluation_parts)},
          {"work",
           {{"productFlops", r.work.all_flops()},
            {"gatheredBytes", r.work.all_gathered()},
            {"streamedBytes", r.work.all_streamed()}}},
          {"computeSeconds", r.compute_seconds},
          {"communicationSeconds", r.communication_seconds}};
}

}  // namespace

std::string to_json(const JobPlan& plan, const Job& job) {
  Json document{{"event", "plan"},
                {"from", name_of(plan.from)},
                {"threads", plan.threads},
                {"gpu", plan.card != nullptr ? Json(plan.card->name) : Json()},
                {"rates",
                 {{"triadBytes", plan.rates.triad_bytes},
                  {"gatherBytes", plan.rates.gather_bytes},
                  {"productFlops", plan.rates.product_flops},
                  {"linkBytes", plan.link_bytes}}},
                {"epochBytes", traffic_json(plan.epoch)},
                {"epochSeconds", plan.epoch_seconds},
                {"simulatedOn", plan.simulated_on},
                {"evaluationBytes", traffic_json(plan.evaluation)},
                {"evaluationParts", parts_json(plan.evaluation_parts)},
                {"evaluationSeconds", plan.evaluation_seconds},
                {"epochs", job.training.epochs},
                {"totalSeconds", plan.total_seconds},
                {"peakMemoryBytes", Json::array()}};  // by rank, as a run's
  document["ranks"] = Json::array();
  for (const RankPlan& r : plan.ranks) {
    document["peakMemoryBytes"].push_back(r.memory.peak());
    document["ranks"].push_back(rank_json(r));
  }
  if (plan.section) plan.section->enter(document);
  return document.dump();
}

}  // namespace atl
