#include "operator/arguments.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "base/error.h"

namespace atl::ctl {
namespace {

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// What a pod is told of itself by the downward API.
std::string variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');)
    if (!word.empty()) words.push_back(word);
  return words;
}

/// "0.0.0.0:8080", ":8080"
void read_address(const std::string& address, Options& options) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos) fail("--metrics: '{}' is no address (use HOST:PORT)", address);
  Arguments port;
  port.add("--metrics", address.substr(colon + 1));
  if (colon > 0) options.metrics_host = address.substr(0, colon);
  options.metrics_port = int(port.integer("--metrics", 0, 0, 65535));
}

bool truth_of(const Arguments& arguments, const std::string& name, bool otherwise) {
  const std::string text = arguments.get(name, otherwise ? "true" : "false");
  if (text != "true" && text != "false") fail("{}: '{}' is not allowed (use true or false)", name, text);
  return text == "true";
}

}  // namespace

Command operator_command(int (*run)(const Arguments&)) {
  return {
      "atoll-operator",
      "Atoll's operator: trains the GNNJobs of a Kubernetes cluster.",
      {{"--kubeconfig", "FILE",
        "the cluster and as whom (default: $KUBECONFIG, the pod this runs in, ~/.kube/config)"},
       {"--image", "IMAGE", "the engine's, for jobs that name none", true},
       {"--pull-policy", "POLICY", "of the engine's image: Always, IfNotPresent (default) or Never"},
       {"--namespace", "NAMES", "see to these namespaces' jobs alone, separated by commas (default: all)"},
       {"--operator-namespace", "NAME",
        "of the lease, and of the pods that ask ranks for progress (default: our own)"},
       {"--scrape-namespace", "NAME", "whose pods may read a job's metrics (default: monitoring)"},
       {"--metrics", "HOST:PORT", "where to serve /metrics, /healthz and /readyz (default: 0.0.0.0:8080)"},
       {"--leader-elect", "BOOL", "true (default) where several replicas run, or false"},
       {"--identity", "NAME", "ours among the replicas (default: $POD_NAME, or the host's name)"},
       {"--workers", "N", "jobs that are looked at side by side (default: 4)"},
       {"--toleration", "SECONDS", "how long a node may be gone before its pods are replaced (default: 30)"},
       {"--grace", "SECONDS", "that ranks have for a last checkpoint (default: 120)"},
       {"--mpi-jobs", "BOOL",
        "true where mpi-operator runs: jobs may have launcher: mpijob (default: false)"},
       {"--kueue", "BOOL", "true where Kueue runs: jobs with its label wait in their queue (default: false)"},
       {"--reserve-after", "SECONDS", "that a gang waits before room is kept for it (default: 300)"},
       {"--lease", "SECONDS", "after which another replica takes over (default: 15)"},
       {"--progress-every", "SECONDS", "between two looks at a job's progress (default: 5)"}},
      run};
}

Options options_of(const Arguments& arguments) {
  Options options;
  Settings& settings = options.settings;
  options.kubeconfig = arguments.get("--kubeconfig");
  settings.image = arguments.get("--image");
  settings.pull_policy = arguments.get("--pull-policy", settings.pull_policy);
  options.spaces = words_of(arguments.get("--namespace"));
  settings.operator_space = arguments.get("--operator-namespace", variable("POD_NAMESPACE", ""));
  settings.scrape_space = arguments.get("--scrape-namespace", settings.scrape_space);
  read_address(arguments.get("--metrics", ":8080"), options);
  options.elects = truth_of(arguments, "--leader-elect", options.elects);
  options.identity = arguments.get("--identity", variable("POD_NAME", host_name()));
  options.workers = int(arguments.integer("--workers", options.workers, 1, 64));
  settings.toleration_seconds = int(arguments.integer("--toleration", settings.toleration_seconds, 0, 3600));
  settings.grace_seconds = int(arguments.integer("--grace", settings.grace_seconds, 1, 3600));
  settings.mpi_jobs = truth_of(arguments, "--mpi-jobs", settings.mpi_jobs);
  settings.kueue = truth_of(arguments, "--kueue", settings.kueue);
  options.reserve_after =
      Seconds(arguments.integer("--reserve-after", options.reserve_after.count(), 0, 604800));
  options.lease = Seconds(arguments.integer("--lease", options.lease.count(), 3, 300));
  options.renew_within = options.lease * 2 / 3;
  options.lease_retry = std::max(Seconds(1), options.lease / 7);
  options.progress_every =
      Seconds(arguments.integer("--progress-every", options.progress_every.count(), 5, 3600));
  return options;
}

}  // namespace atl::ctl
