// The schema of a job's status, in which the operator reports on it.
#include "job/crd/crd.h"

#include <initializer_list>
#include <string>
#include <utility>

#include "base/json.h"
#include "job/layout.h"
#include "job/quantity.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

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

/// The schema of bytes: 12Mi.
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
  Json condition = object(
      "Created, Placed, NodesRequested, Running, Suspended, Restarting, DeletionRefused, Succeeded/Failed",
      {{"type", text("", 63)},
       {"status", words("", {"True", "False", "Unknown"})},
       {"observedGeneration", count("the spec's generation that it refers to")},
       {"lastTransitionTime", time("when the status last changed")},
       {"reason", text("one word, for programs", 1024)},
       {"message", text("what happened and what to do, for people", 4096)}});
  condition["required"] = {"type", "status", "lastTransitionTime", "reason", "message"};
  condition["properties"]["type"].erase("description");
  condition["properties"]["status"].erase("description");
  Json schema = list("the job's conditions, and since when each holds", 16, std::move(condition));
  schema["x-kubernetes-list-type"] = "map";
  schema["x-kubernetes-list-map-keys"] = {"type"};
  return schema;
}

Json placement() {
  Json server = object(
      "a node and the ranks on it",
      {{"node", name("its name")},
       {"ranks", list("in order", kMostRanks, count("a rank"))},
       {"holds", text("what they have that others don't: a pipeline's stage, or a server's vertices", 64)}});
  Json predicted = object("what the plan costs",
                          {{"interServerBytesPerEpoch", bytes("bytes between servers in one epoch")},
                           {"bestPossible", bytes("the same with the best placement on an empty cluster")},
                           {"reason", text("why it isn't the best", 4096)}});
  return object("which rank runs where", {{"servers", list("one per node", kMostRanks, std::move(server))},
                                          {"predicted", std::move(predicted)}});
}

Json made_of() {
  return object("what the job's objects are made of, as recorded when it was taken",
                {{"manifest", text("digest of what it asks for", 32)},
                 {"prepared", text("digest of what its prepare step depends on", 32)},
                 {"image", text("the engine's, in every pod; by digest once a pod tells it", 1024)}});
}

Json pod_size() {
  return object(
      "how many ranks share a pod, chosen where the manifest leaves that open",
      {{"ranksPerServer", count("as placement.ranksPerServer; absent until nodes could hold the job")},
       {"reason", text("what it was chosen for, or what it waits for", 4096)},
       {"goneSince", time("since when no nodes could hold such pods, even if they were empty")}});
}

Json progress() {
  return object("progress of training, as the ranks report it",
                {{"epoch", count("finished epochs")},
                 {"epochs", count("epochs to train")},
                 {"loss", number("training loss of the last epoch")},
                 {"validation", number("training.metric on validation vertices")},
                 {"epochSeconds", number("seconds of a typical epoch")},
                 {"eta", text("time left, as 5m4s", 32)},
                 {"lastCheckpointEpoch", count("what a restart resumes from")},
                 {"advancedTime", time("when an epoch was last seen to end")}});
}

Json traffic() {
  return object("bytes sent in one epoch, as the ranks count them",
                {{"intraServerBytesPerEpoch", bytes("between ranks of one server")},
                 {"interServerBytesPerEpoch", bytes("between servers")}});
}

Json restarts() {
  Json culprit = object("where the failure began", {{"rank", count("the rank that was lost")},
                                                    {"signal", text("that ended it, as SIGKILL", 32)},
                                                    {"pod", name("its pod")},
                                                    {"node", name("its node")},
                                                    {"uid", name("the pod's, of the prepare step's pods")}});
  Json restart = object("one restart", {{"time", time("when")},
                                        {"culprit", std::move(culprit)},
                                        {"reason", text("one word: OOMKilled, NodeLost, …", 1024)},
                                        {"resumedFromEpoch", count("epoch of the checkpoint that the "
                                                                   "restart resumed from")}});
  return list("the last restarts, the oldest first", kMostRestarts, std::move(restart));
}

Json reported() {
  return object(
      "what the operator knows about the job",
      {{"observedGeneration", count("the spec's generation that this status refers to")},
       {"state", words("the job's most important condition now, or what it waits for",
                       {"New", "Created", "Refused", "Preparing", "Waiting", "Placed", "Running", "Suspended",
                        "Restarting", "Succeeded", "Failed"})},
       {"reason", text("that condition's reason; Unseen: no operator has seen the job", 1024)},
       {"nodes", count("on how many nodes it has places")},
       {"conditions", conditions()},
       {"madeOf", made_of()},
       {"findings", text("what the prepare step found of the data set's parts, as JSON; longer ones are in "
                         "a ConfigMap",
                         4096)},
       {"podSize", pod_size()},
       {"attempt", count("starts of the ranks so far")},
       {"failures", count("restarts that count against runPolicy.backoffLimit")},
       {"disruptions", count("restarts that count against runPolicy.maxDisruptions")},
       {"keys", name("the Secret with the login keys that the job's pods mount")},
       {"withdrawals", count("how often its pods were deleted for lack of room since it ran last")},
       {"placement", placement()},
       {"progress", progress()},
       {"traffic", traffic()},
       {"restarts", restarts()},
       {"result", object("the result", {{"testMetric", number("training.metric on test vertices")},
                                        {"bestEpoch", count("the epoch whose weights were kept")}})},
       {"startTime", time("when all ranks ran first")},
       {"completionTime", time("when the job ended")}});
}

}  // namespace

Json status_schema() {
  Json schema = reported();
  // This status applies until an operator has written one. So readers always find a status.
  schema["default"] = {{"state", "New"}, {"reason", "Unseen"}, {"nodes", 0}};
  return schema;
}

}  // namespace atl
