#include "operator/kube/config.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "operator/kube/credential_files.h"

namespace atl::kube {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

ClusterConfig in_cluster_config(const std::string& service_account) {
  const std::string host = variable("KUBERNETES_SERVICE_HOST"), port = variable("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty())
    fail("this is not a pod: KUBERNETES_SERVICE_HOST and _PORT aren't set; give a kubeconfig");
  ClusterConfig config;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  config.server = fmt::format("https://{}:{}", is_ipv6 ? "[" + host + "]" : host, port);
  config.credentials =
      credential_files({.ca = service_account + "/ca.crt", .token = service_account + "/token"});
  std::ifstream(service_account + "/namespace") >> config.space;
  if (config.space.empty()) config.space = "default";
  return config;
}

ClusterConfig find_config(const std::string& kubeconfig) {
  if (!kubeconfig.empty()) return read_kubeconfig(kubeconfig);
  if (const auto path = variable("KUBECONFIG"); !path.empty()) return read_kubeconfig(path);
  if (!variable("KUBERNETES_SERVICE_HOST").empty()) return in_cluster_config();
  const std::string usual = variable("HOME") + "/.kube/config";
  if (!std::filesystem::exists(usual))
    fail("no cluster is given: this is not a pod, KUBECONFIG isn't set, and there is no {}", usual);
  return read_kubeconfig(usual);
}

}  // namespace atl::kube
