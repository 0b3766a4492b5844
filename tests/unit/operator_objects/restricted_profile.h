// The restricted Pod Security level (kubernetes.io/docs/concepts/security/pod-security-standards), checked on
// a pod's JSON as that page words it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json.h"

namespace atl::ctl {

using Faults = std::vector<std::string>;

inline void judge_container(const nlohmann::json& container, const nlohmann::json& of_pod, Faults& faults) {
  const std::string name = container.value("name", "?");
  const auto context = container.value("securityContext", nlohmann::json::object());
  if (context.value("privileged", false)) faults.push_back(name + " is privileged");
  if (context.value("allowPrivilegeEscalation", true)) faults.push_back(name + " may gain privileges");
  if (!context.value("runAsNonRoot", of_pod.value("runAsNonRoot", false)))
    faults.push_back(name + " may be root");
  if (context.value("runAsUser", of_pod.value("runAsUser", 1)) == 0) faults.push_back(name + " is root");
  const auto capabilities = context.value("capabilities", nlohmann::json::object());
  if (capabilities.value("drop", nlohmann::json::array()) != nlohmann::json{"ALL"})
    faults.push_back(name + " keeps capabilities");
  for (const auto& added : capabilities.value("add", nlohmann::json::array()))
    if (added != "NET_BIND_SERVICE") faults.push_back(name + " adds a capability");
  const auto seccomp =
      context.value("seccompProfile", of_pod.value("seccompProfile", nlohmann::json::object()));
  if (seccomp.value("type", "") != "RuntimeDefault" && seccomp.value("type", "") != "Localhost")
    faults.push_back(name + " has no seccomp profile");
  for (const auto& port : container.value("ports", nlohmann::json::array()))
    if (port.value("hostPort", 0) != 0) faults.push_back(name + " has a host port");
}

inline Faults restricted_faults(const nlohmann::json& pod) {
  Faults faults;
  const auto& spec = pod.at("spec");
  for (const char* host : {"hostNetwork", "hostPID", "hostIPC"})
    if (spec.value(host, false)) faults.push_back(host);
  const std::set<std::string> allowed = {"configMap", "csi",       "downwardAPI",
                                         "emptyDir",  "ephemeral", "persistentVolumeClaim",
                                         "projected", "secret"};
  for (const auto& volume : spec.value("volumes", nlohmann::json::array()))
    for (const auto& [key, value] : volume.items())
      if (key != "name" && !allowed.contains(key)) faults.push_back("volume of kind " + key);
  const auto of_pod = spec.value("securityContext", nlohmann::json::object());
  for (const char* list : {"containers", "initContainers"})
    for (const auto& container : spec.value(list, nlohmann::json::array()))
      judge_container(container, of_pod, faults);
  return faults;
}

}  // namespace atl::ctl
