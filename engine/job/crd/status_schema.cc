#include "job/crd/status_schema.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "job/quantity.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostRanks = 4096;  // placement.ranks
constexpr int kMostRestarts = 10;

Json of_type(const char* type, const char* description) {
  return {{"description", description}, {"type", type}};
}

Json text(const char* description, int longest) {
  Json schema = of_type("string", description);
  schema["maxLength"] = longest;
  return schema;
}

Json name(const char* description) {
  return text(description, 253);
}

Json count(const char* description) {
  Json schema = of_type("integer", description);
  schema.update({{"format", "int64"}, {"minimum", 0}});
  return schema;
}

Json number(const char* description) {
  return of_type("number", description);
}

Json time(const char* description) {
  Json schema = of_type("string", description);
  schema["format"] = "date-time";
  return schema;
}

/// 12Mi
Json bytes(const char* description) {
  Json schema{{"description", description}, {"x-kubernetes-int-or-string", true}};
  schema.update({{"pattern", kQuantityPattern}, {"maxLength", 32}});
  return schema;
}

Json object(const char* description, Json properties) {
  Json schema = of_type("object", description);
  schema["properties"] = std::move(properties);
  return schema;
}

Json list(const char* description, int most, Json items) {
  Json schema = of_type("array", description);
  schema.update({{"maxItems", most}, {"x-kubernetes-list-type", "atomic"}, {"items", std::move(items)}});
  return schema;
}

Json words(const char* description, std::initializer_list<const char*> allowed) {
  Json schema = of_type("string", description);
  schema["enum"] = allowed;
  return schema;
}

Json conditions() {
  Json condition = object("Created, Placed, Running, Suspended, Restarting, Succeeded or Failed",
                          {{"type", text("", 63)},
                           {"status", words("", {"True", "False", "Unknown"})},
                           {"observedGeneration", count("the spec's generation that it was judged by")},
                           {"lastTransitionTime", time("when status changed last")},
                           {"reason", text("one word, for programs", 1024)},
                           {"message", text("what happened and what to do, for people", 4096)}});
  condition["required"] = {"type", "status", "lastTransitionTime", "reason", "message"};
  condition["properties"]["type"].erase("description");
  condition["properties"]["status"].erase("description");
  Json schema = list("what is true of the job, and since when", 16, std::move(condition));
  schema["x-kubernetes-list-type"] = "map";
  schema["x-kubernetes-list-map-keys"] = {"type"};
  return schema;
}

Json placement() {
  Json server =
      object("a node and the ranks on it",
             {{"node", name("its name")}, {"ranks", list("in order", kMostRanks, count("a rank"))}});
  Json predicted = object("what the plan costs",
                          {{"interServerBytesPerEpoch", bytes("bytes between servers in one epoch")},
                           {"bestPossible", bytes("the same on an empty cluster of this shape")},
                           {"reason", text("why it isn't the best", 4096)}});
  return object("which rank sits where", {{"servers", list("one a node", kMostRanks, std::move(server))},
                                          {"predicted", std::move(predicted)}});
}

Json progress() {
  return object("how far training has come, as rank 0 says",
                {{"epoch", count("finished epochs")},
                 {"epochs", count("of how many")},
                 {"loss", number("of the last epoch")},
                 {"validation", number("training.metric on validation vertices")},
                 {"epochSeconds", number("of a typical epoch")},
                 {"eta", text("time left, as 5m4s", 32)},
                 {"lastCheckpointEpoch", count("what a restart resumes from")}});
}

Json traffic() {
  return object("bytes in one epoch, as the ranks' ledgers say",
                {{"intraServerBytesPerEpoch", bytes("between ranks of one server")},
                 {"interServerBytesPerEpoch", bytes("between servers")}});
}

Json restarts() {
  Json culprit = object("where it began", {{"rank", count("the rank that was lost")},
                                           {"signal", text("that ended it, as SIGKILL", 32)},
                                           {"pod", name("its pod")},
                                           {"node", name("its node")}});
  Json restart = object("one restart", {{"time", time("when")},
                                        {"culprit", std::move(culprit)},
                                        {"reason", text("one word: OOMKilled, NodeLost, …", 1024)},
                                        {"resumedFromEpoch", count("the checkpoint that it went on from")}});
  return list("the last restarts, oldest first", kMostRestarts, std::move(restart));
}

}  // namespace

Json status_schema() {
  return object(
      "what the operator knows of the job",
      {{"observedGeneration", count("the spec's generation that the rest was made from")},
       {"state", words("the condition that says most now",
                       {"Created", "Placed", "Running", "Suspended", "Restarting", "Succeeded", "Failed"})},
       {"conditions", conditions()},
       {"attempt", count("starts of the ranks so far")},
       {"failures", count("restarts that count against runPolicy.backoffLimit")},
       {"withdrawals",
        count("since it ran last: how often its pods were let go, their room not being there")},
       {"placement", placement()},
       {"progress", progress()},
       {"traffic", traffic()},
       {"restarts", restarts()},
       {"result", object("what came out", {{"testMetric", number("training.metric on test vertices")},
                                           {"bestEpoch", count("whose weights were kept")}})},
       {"startTime", time("when all ranks ran first")},
       {"completionTime", time("when the job ended")}});
}

}  // namespace atl
