#include "operator_run/fake_api.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace atl::ctl {

std::size_t TextStream::read(char* into, std::size_t size, kube::Milliseconds) {
  const std::size_t count = body_.copy(into, size, at_);
  at_ += count;
  return count;
}

std::unique_ptr<kube::Stream> FakeApi::open(const kube::Request& request) {
  std::lock_guard lock(mutex_);
  const Target target = target_of(request);
  const bool is_write = request.method != "GET" && target.plural != "events";
  if (is_cut) fail_as_cut();
  if (is_write && cut_in-- == 0) {
    is_cut = true;
    if (!cut_after) fail_as_cut();
  }
  const Loss loss = lose ? lose(request.method, target) : Loss::kNone;
  if (loss == Loss::kRequest) time_out();
  auto given = serve(request, target);
  if (is_cut) fail_as_cut();
  if (loss == Loss::kAnswer) time_out();
  return given;
}

void FakeApi::forget_requests() {
  writes.clear();
  reads.clear();
  trials.clear();
  events.clear();
  made.clear();
}

void FakeApi::fail_as_cut() {
  throw kube::TransportError(kube::TransportError::Kind::kBroken, "the operator is dead");
}

void FakeApi::time_out() {
  throw kube::TransportError(kube::TransportError::Kind::kTimeout, "no answer within 30 s");
}

std::unique_ptr<kube::Stream> FakeApi::serve(const kube::Request& request, const Target& target) {
  if (request.target.find("dryRun=All") != std::string::npos) return try_out(request, target);
  if (request.method == "GET") reads.push_back(target.plural + " " + target.name);
  if (request.method != "GET") writes.push_back(request.method + " " + target.plural + " " + target.name);
  if (const auto refusal = refuse ? refuse(request.method, target) : std::nullopt)
    return status(refusal->code, refusal->reason, refusal->message, refusal->retry_after);
  if (target.plural == "events") return take_event(request, target);
  if (request.method == "POST") return create(request, target);
  const auto only_read = more.find(target.plural + "/" + target.name);
  if (only_read != more.end()) return answer(only_read->second.dump());
  if (!exists(target)) return status(404, "NotFound", target.plural + " not found");
  if (target.sub == "log") return answer(log(target.name));
  if (request.method == "PATCH") return patch(request, target);
  if (request.method == "DELETE") return remove(request, target);
  return answer(shown(target).dump());
}

FakeApi::Target FakeApi::target_of(const kube::Request& request) {
  std::vector<std::string> words;
  std::istringstream stream(request.target.substr(0, request.target.find('?')));
  for (std::string word; std::getline(stream, word, '/');) words.push_back(word);
  auto at = std::find(words.begin(), words.end(), "namespaces");
  if (at == words.end()) at = words.begin() + (words.at(1) == "api" ? 1 : 2);  // of the whole cluster
  Target target;
  const auto word = [&](int n) { return words.end() - at > n ? *(at + n) : ""; };
  target.plural = word(2);
  target.name = word(3);
  target.sub = word(4);
  if (request.method == "POST") target.name = parse_json(request.body).at("metadata").at("name");
  return target;
}

Kind FakeApi::kind_of(const Target& target) {
  for (const Kind kind : {Kind::kJob, Kind::kConfigMap, Kind::kSecret, Kind::kNetworkPolicy, Kind::kWorkload,
                          Kind::kPodTemplate, Kind::kCapacityBuffer})
    if (resource_of(kind).plural == target.plural) return kind;
  return Kind::kPod;
}

std::unique_ptr<kube::Stream> FakeApi::answer(std::string body) {
  return std::make_unique<TextStream>(200, std::move(body));
}

std::unique_ptr<kube::Stream> FakeApi::status(int code, const std::string& reason, const std::string& message,
                                              int retry_after) {
  json body = {{"kind", "Status"}, {"code", code}, {"reason", reason}, {"message", message}};
  if (retry_after > 0) body["details"]["retryAfterSeconds"] = retry_after;
  return std::make_unique<TextStream>(code, body.dump());
}

bool FakeApi::exists(const Target& target) const {
  const Kind kind = kind_of(target);
  return kind == Kind::kPod ? cluster_.pods.contains(target.name)
                            : cluster_.objects.contains({kind, target.name});
}

json& FakeApi::object(const Target& target) {
  const Kind kind = kind_of(target);
  return kind == Kind::kPod ? cluster_.pods.at(target.name) : cluster_.objects.at({kind, target.name});
}

json FakeApi::versioned(const std::string& path, json object) {
  auto& [text, version] = versions_[path];
  if (std::string now = object.dump(); now != text) {
    text = std::move(now);
    version = ++last_version_;
  }
  object["metadata"]["resourceVersion"] = std::to_string(version);
  return object;
}

std::unique_ptr<kube::Stream> FakeApi::try_out(const kube::Request& request, const Target& target) {
  if (target.plural == "secrets")
    return exists(target) ? status(409, "AlreadyExists", target.name) : answer(request.body);
  EXPECT_NE(request.target.find("fieldValidation=Strict"), std::string::npos);
  trials.push_back(parse_json(request.body));
  const auto refusal = judge ? judge(trials.back()) : std::nullopt;
  return refusal ? status(refusal->code, refusal->reason, refusal->message) : answer(request.body);
}

std::unique_ptr<kube::Stream> FakeApi::create(const kube::Request& request, const Target& target) {
  if (exists(target)) return status(409, "AlreadyExists", target.name + " already exists");
  json object = parse_json(request.body);
  if (object["metadata"].value("annotations", json::object()).empty())
    object["metadata"].erase("annotations");  // as the real server does
  if (admit && target.plural == "pods") admit(object);
  cluster_.create(kind_of(target), target.name, std::move(object));
  made.push_back(target.plural + " " + target.name);
  return answer(shown(target).dump());
}

std::unique_ptr<kube::Stream> FakeApi::patch(const kube::Request& request, const Target& target) {
  const json steps = parse_json(request.body), before = shown(target);
  json after;
  try {
    after = before.patch(steps);
  } catch (const json::exception& error) {
    return status(422, "Invalid", error.what());
  }
  if (target.sub == "status") return keep_status(before, after, target);
  cluster_.patch_pod(target.name, steps);
  return answer(shown(target).dump());
}

std::unique_ptr<kube::Stream> FakeApi::keep_status(const json& before, const json& after,
                                                   const Target& target) {
  if (after.at("metadata").at("resourceVersion") != before.at("metadata").at("resourceVersion"))
    return status(409, "Conflict", "the object has been modified");
  object(target)["status"] = after.at("status");
  if (keep_otherwise) keep_otherwise(object(target)["status"]);
  if (on_status && target.plural == resource_of(Kind::kJob).plural)
    on_status(target.name, before.value("status", json::object()), object(target)["status"]);
  cluster_.touch(kind_of(target), target.name);
  return answer(shown(target).dump());
}

std::unique_ptr<kube::Stream> FakeApi::remove(const kube::Request& request, const Target& target) {
  const json options = parse_json(request.body);
  const std::string uid = options.value("preconditions", json::object()).value("uid", "");
  if (object(target).at("metadata").at("uid") != uid) return status(409, "Conflict", "another uid");
  std::optional<int> grace;
  if (options.contains("gracePeriodSeconds")) grace = options["gracePeriodSeconds"].get<int>();
  cluster_.remove(kind_of(target), target.name, uid, grace);
  return answer("{}");
}

std::unique_ptr<kube::Stream> FakeApi::take_event(const kube::Request& request, const Target& target) {
  const json body = parse_json(request.body);
  if (request.method == "POST")
    events[target.name] = body;
  else if (const auto said = events.find(target.name); said != events.end())
    said->second.merge_patch(body);
  else
    return status(404, "NotFound", "events not found");
  return answer(body.dump());
}

json FakeApi::node_json(const std::string& name, const FakeNode& node) {
  const json ready = {{"type", "Ready"},
                      {"status", node.is_dead ? "Unknown" : "True"},
                      {"lastTransitionTime", text_of(node.since)}};
  json allocatable = {{"cpu", std::to_string(node.cores) + "m"}, {"memory", "1Ti"}, {"pods", "100"}};
  if (node.gpus > 0) allocatable[node.gpu_resource] = std::to_string(node.gpus);
  return {{"metadata", {{"name", name}, {"uid", name}, {"labels", node.labels}}},
          {"spec", {{"unschedulable", node.is_cordoned}}},
          {"status", {{"allocatable", allocatable}, {"conditions", json::array({ready})}}}};
}

std::map<std::string, json> FakeApi::all() {
  std::lock_guard lock(mutex_);
  cluster_.changed.clear();
  cluster_.changed_nodes.clear();
  std::map<std::string, json> found;
  for (const auto& [name, node] : cluster_.nodes)
    if (!hidden_nodes.contains(name)) found["nodes/" + name] = node_json(name, node);
  for (const auto& [name, pod] : cluster_.pods) found["pods/" + name] = pod;
  for (const auto& [name, flavor] : cluster_.flavors) found["resourceflavors/" + name] = flavor;
  for (const auto& [path, object] : more) found[path] = object;
  for (const auto& [key, object] : cluster_.objects)
    found[resource_of(key.first).plural + "/" + key.second] = object;
  for (auto& [path, object] : found) object = versioned(path, object);
  std::erase_if(versions_, [&](const auto& known) { return !found.contains(known.first); });
  return found;
}

std::map<std::string, json> FakeApi::changes() {
  std::lock_guard lock(mutex_);
  std::map<std::string, json> found;
  for (const auto& [kind, name] : std::exchange(cluster_.changed, {})) {
    const Target target{resource_of(kind).plural, name, ""};
    const std::string path = target.plural + "/" + name;
    if (exists(target))
      found[path] = shown(target);
    else
      found[path] = nullptr, versions_.erase(path);
  }
  for (const std::string& name : std::exchange(cluster_.changed_nodes, {})) {
    const std::string path = "nodes/" + name;
    const auto node = cluster_.nodes.find(name);
    if (node != cluster_.nodes.end() && !hidden_nodes.contains(name))
      found[path] = versioned(path, node_json(name, node->second));
    else
      found[path] = nullptr, versions_.erase(path);
  }
  return found;
}

}  // namespace atl::ctl
