// A job's objects that aren't pods.
#include "operator/objects/objects.h"

#include <nlohmann/json.hpp>

#include "operator/objects/names.h"
#include "operator/objects/parts.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

std::string config_map(const GnnJob& job, const std::string& name, const char* file, std::string content) {
  json map = object_of(job, "v1", "ConfigMap", name);
  map["immutable"] = true;
  map["data"] = {{file, std::move(content)}};
  return map.dump();
}

json tcp(int port) {
  return json::array({{{"protocol", "TCP"}, {"port", port}}});
}

json pods_of_job(const GnnJob& job) {
  return {{"matchLabels", {{kJobLabel, job.meta.name}}}};
}

json from_space(const std::string& space) {
  return {{"namespaceSelector", {{"matchLabels", {{"kubernetes.io/metadata.name", space}}}}}};
}

}  // namespace

std::string keys_secret(const GnnJob& job, const LoginKeys& keys) {
  json secret = object_of(job, "v1", "Secret", job.status.keys);
  secret["type"] = "Opaque";
  secret["immutable"] = true;
  secret["stringData"] = {{"authorized_keys", keys.login.open + "\n"},
                          {"host_key", keys.host.secret},
                          {"id_login", keys.login.secret},
                          {"known_hosts", "* " + keys.host.open + "\n"}};
  return secret.dump();
}

std::string empty_secret(const GnnJob& job, const std::string& name) {
  return object_of(job, "v1", "Secret", name).dump();
}

std::string job_config_map(const GnnJob& job) {
  return config_map(job, job_map_name(job.meta.name, job.made_of.manifest), "job.yaml", job.manifest);
}

std::string prepared_config_map(const GnnJob& job, const std::string& prepared) {
  return config_map(job, prepared_map_name(job.meta.name, job.made_of.prepared), "prepared.json", prepared);
}

std::string attempt_config_map(const GnnJob& job, int attempt, const std::vector<AttemptServer>& servers,
                               const std::vector<int>& parts, const std::string& strategy) {
  json all = json::array();
  for (const AttemptServer& s : servers)
    all.push_back({{"pod", s.pod}, {"node", s.node}, {"address", s.address}, {"ranks", s.ranks}});
  json content = {{"attempt", attempt}, {"run", job.meta.uid}, {"servers", std::move(all)}};
  if (!parts.empty()) content["parts"] = parts;
  if (!strategy.empty()) content["strategy"] = strategy;
  return config_map(job, attempt_map_name(job.meta.name, attempt), "attempt.json", content.dump());
}

std::string network_policy(const GnnJob& job, const Settings& settings) {
  json policy = object_of(job, "networking.k8s.io/v1", "NetworkPolicy", job.meta.name);
  const json within = {{"from", json::array({{{"podSelector", pods_of_job(job)}}})}};
  const json metrics = {
      {"from", json::array({from_space(settings.operator_space), from_space(settings.scrape_space)})},
      {"ports", tcp(kMetricsPort)}};
  policy["spec"] = {{"podSelector", pods_of_job(job)},
                    {"policyTypes", {"Ingress"}},
                    {"ingress", json::array({within, metrics})}};
  return policy.dump();
}

}  // namespace atl::ctl
