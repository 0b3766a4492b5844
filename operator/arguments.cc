#include "operator/arguments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "job/quantity.h"
#include "operator/objects/template.h"

namespace atl::ctl {
namespace {

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// An environment variable, set by the pod's downward API.
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

/// "127.0.0.1:8080", "[::1]:8080", ":8080"
void read_address(const std::string& address, Options& options) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos) fail("--metrics: '{}' is not allowed (use HOST:PORT)", address);
  Arguments port;
  port.add("--metrics", address.substr(colon + 1));
  if (colon > 0) options.metrics_host = address.substr(0, colon);
  options.metrics_port = int(port.integer("--metrics", 0, 0, 65535));
}

std::set<std::string> allowed_features(const Arguments& arguments) {
  std::set<std::string> allowed;
  for (const std::string& word : words_of(arguments.get("--allow"))) {
    if (!is_allowable(word))
      fail("--allow: '{}' is unknown (use any of {}, or a capability's name, as IPC_LOCK)", word,
           joined(guarded_features(), ", "));
    allowed.insert(word);
  }
  return allowed;
}

/// Checks that the name is one of a device plugin's resources, in Kubernetes' form.
std::string gpu_resource_of(const Arguments& arguments) {
  const std::string name = arguments.get("--gpu-resource", kGpuResource);
  const auto slash = name.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == name.size())
    fail("--gpu-resource: '{}' is no resource of a device plugin (use one like {})", name, kGpuResource);
  return name;
}

/// Bytes of /dev/shm for each rank.
std::int64_t shared_memory_of(const Arguments& arguments, const std::string& name, std::int64_t otherwise) {
  constexpr double kLeast = 16 << 20,
                   kMost = double(1LL << 40);  // what any rank needs; a node's memory
  const std::string text = arguments.get(name, std::to_string(otherwise));
  const auto bytes = parse_quantity(text);
  if (!bytes || *bytes < kLeast || *bytes > kMost)
    fail("{}: '{}' is not allowed (use bytes as Kubernetes writes them, 16Mi to 1Ti)", name, text);
  return std::int64_t(*bytes);
}

/// "NCCL_IB_HCA=mlx5_0,mlx5_1;NCCL_DEBUG=WARN"
std::map<std::string, std::string> nccl_of(const std::string& list) {
  constexpr const char* kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::map<std::string, std::string> variables;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ';');) {
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (equals == std::string::npos || !name.starts_with("NCCL_") ||
        name.find_first_not_of(kAllowed) != std::string::npos)
      fail("--nccl: '{}' is not allowed (use NCCL_NAME=VALUE, separated by ';')", word);
    variables[name] = word.substr(equals + 1);
  }
  return variables;
}

bool truth_of(const Arguments& arguments, const std::string& name, bool otherwise) {
  const std::string text = arguments.get(name, otherwise ? "true" : "false");
  if (text != "true" && text != "false") fail("{}: '{}' is not allowed (use true or false)", name, text);
  return text == "true";
}

/// How an autoscaler is asked for nodes, and by which pods.
void read_scale_up(const Arguments& arguments, Options& options) {
  const std::map<std::string, ScaleUp> ways = {{"none", ScaleUp::kNone},
                                               {"placeholders", ScaleUp::kPlaceholders},
                                               {"capacity-buffers", ScaleUp::kCapacityBuffers}};
  Settings& settings = options.settings;
  const std::string name = arguments.get("--scale-up", "none");
  const auto way = ways.find(name);
  if (way == ways.end())
    fail("--scale-up: '{}' is not allowed (use none, placeholders or capacity-buffers)", name);
  settings.scale_up = way->second;
  settings.clears_buffers = truth_of(arguments, "--clear-capacity-buffers", false);
  settings.placeholder_image = arguments.get("--placeholder-image", "");
  settings.placeholder_class = arguments.get("--placeholder-class", "");
  settings.scale_up_seconds =
      int(arguments.integer("--scale-up-patience", settings.scale_up_seconds, 60, 86'400));
  options.most_servers = int(arguments.integer("--scale-up-servers", options.most_servers, 1, 100'000));
  if (settings.scale_up != ScaleUp::kNone && settings.placeholder_image.empty())
    fail("--placeholder-image: is required with --scale-up={}", name);
  if (settings.scale_up == ScaleUp::kPlaceholders && settings.placeholder_class.empty())
    fail("--placeholder-class: is required with --scale-up={} (name a PriorityClass of negative value)",
         name);
}

LogLevel log_level_of(const Arguments& arguments) {
  const std::map<std::string, LogLevel> levels = {
      {"debug", LogLevel::kDebug}, {"info", LogLevel::kInfo}, {"warning", LogLevel::kWarning}};
  const std::string name = arguments.get("--log-level", "info");
  const auto level = levels.find(name);
  if (level == levels.end()) fail("--log-level: '{}' is not allowed (use debug, info or warning)", name);
  return level->second;
}

/// The class, which becomes part of names and labels.
std::string class_of(const Arguments& arguments) {
  const std::string name = arguments.get("--class", kDefaultClass);
  constexpr const char* kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-";
  constexpr std::size_t kLongest = 40;
  const bool is_name = !name.empty() && name.size() <= kLongest &&
                       name.find_first_not_of(kAllowed) == std::string::npos && name.front() != '-' &&
                       name.back() != '-';
  if (!is_name)
    fail("--class: '{}' is no name (use lower case letters, digits and '-' between them, at most {})", name,
         kLongest);
  return name;
}

/// Arguments about nodes that an autoscaler is asked for.
std::vector<Argument> scale_up_arguments() {
  return {
      {"--scale-up", "WAY",
       "how an autoscaler is asked for nodes for gangs that wait for room: placeholders (pods of low priority), "
       "capacity-buffers, or none (default)"},
      {"--scale-up-servers", "N", "servers for which nodes are asked at a time, by all jobs (default: 64)"},
      {"--scale-up-patience", "SECONDS",
       "how long the nodes may take to come, before what asked for them is deleted for a time (default: 900)"},
      {"--clear-capacity-buffers", "true|false",
       "delete CapacityBuffers by which jobs asked for nodes before, where they ask otherwise now or not at all; "
       "the cluster must serve that resource (default: false)"},
      {"--placeholder-image", "IMAGE",
       "image of placeholder pods, which need only stay (required by --scale-up)"},
      {"--placeholder-class", "NAME",
       "PriorityClass of placeholder pods, of negative value (required by --scale-up=placeholders)"}};
}

}  // namespace

Command operator_command(int (*run)(const Arguments&)) {
  Command command{
      "atoll-operator",
      "Atoll's operator: trains the GNNJobs of a Kubernetes cluster.",
      {{"--kubeconfig", "FILE",
        "cluster and user (default: $KUBECONFIG, the pod's service account, or ~/.kube/config)"},
       {"--image", "IMAGE", "the engine's image, for jobs without spec.image", true},
       {"--cuda-image", "IMAGE",
        "the same for jobs with resources.nvidia.com/gpu (default: that of --image, which trains on no GPU)"},
       {"--gpu-resource", "NAME", "what nodes call a GPU (default: nvidia.com/gpu)"},
       {"--oldest-driver", "VERSION",
        "major version of NVIDIA's driver that --cuda-image needs, as 580: nodes whose label "
        "nvidia.com/cuda.driver-version.major is less get no ranks with GPUs (default: 0, any will do)"},
       {"--nccl", "VARIABLES",
        "NCCL's variables for workers with GPUs: NCCL_NAME=VALUE, separated by ';' (default: none)"},
       {"--architectures", "NAMES",
        "architectures that the engine's images are built for, separated by commas: amd64 (default: any node will do)"},
       {"--pull-policy", "POLICY",
        "pull policy of the engine's images: Always, IfNotPresent (default) or Never"},
       {"--pull-secrets", "NAMES",
        "Secrets by which the engine's images are pulled, separated by commas; each namespace with jobs has "
        "its own (default: none)"},
       {"--shared-memory", "SIZE", "/dev/shm of a pod, for each of its ranks (default: 64Mi)"},
       {"--cuda-shared-memory", "SIZE", "the same for each rank with a GPU (default: 1Gi)"},
       {"--namespace", "NAMES",
        "handle only the jobs of these namespaces, separated by commas (default: all)"},
       {"--class", "NAME",
        "handle only jobs of this class, as their label atoll.dev/operator-class says (default: atoll, that of jobs without "
        "the label)"},
       {"--operator-namespace", "NAME",
        "namespace of the lease and of the operator's pods (default: $POD_NAMESPACE)"},
       {"--scrape-namespace", "NAME", "namespace whose pods may read a job's metrics (default: monitoring)"},
       {"--metrics", "HOST:PORT",
        "address that serves /metrics, /healthz and /readyz (default: :8080, every address)"},
       {"--leader-elect", "BOOL", "true (default) if several replicas run: one of them leads"},
       {"--identity", "NAME", "this replica's name in the lease (default: $POD_NAME, or the host's name)"},
       {"--log-level", "LEVEL",
        "what the log tells: debug (what is done about each job), info (default) or warning"},
       {"--workers", "N", "number of jobs written at the same time (default: 16)"},
       {"--toleration", "SECONDS",
        "how long a node may be unreachable before its pods are replaced (default: 30)"},
       {"--grace", "SECONDS", "time for ranks to write a last checkpoint (default: 120)"},
       {"--mpi-jobs", "BOOL", "true if mpi-operator runs: jobs may have launcher: mpijob (default: false)"},
       {"--kueue", "BOOL", "true if Kueue runs: jobs with its label wait in their queue (default: false)"},
       {"--allow", "NAMES",
        fmt::format(
            "also allowed in template and volumes, separated by commas: {}, capabilities by name (default: none)",
            joined(guarded_features(), ", "))},
       {"--reserve-after", "SECONDS", "how long a gang waits before room is reserved for it (default: 300)"},
       {"--lease", "SECONDS", "how long a silent leader keeps the lease (default: 15)"},
       {"--progress-every", "SECONDS", "time between two polls of a job's progress (default: 5)"}},
      run};
  for (Argument& argument : scale_up_arguments()) command.arguments.push_back(std::move(argument));
  return command;
}

Options options_of(const Arguments& arguments) {
  Options options;
  Settings& settings = options.settings;
  options.kubeconfig = arguments.get("--kubeconfig");
  settings.image = arguments.get("--image");
  settings.cuda_image = arguments.get("--cuda-image", "");
  settings.gpu_resource = gpu_resource_of(arguments);
  settings.oldest_driver = int(arguments.integer("--oldest-driver", settings.oldest_driver, 0, 100'000));
  settings.nccl = nccl_of(arguments.get("--nccl", ""));
  settings.architectures = words_of(arguments.get("--architectures"));
  settings.pull_policy = arguments.get("--pull-policy", settings.pull_policy);
  settings.pull_secrets = words_of(arguments.get("--pull-secrets"));
  settings.shared_memory = shared_memory_of(arguments, "--shared-memory", settings.shared_memory);
  settings.cuda_shared_memory =
      shared_memory_of(arguments, "--cuda-shared-memory", settings.cuda_shared_memory);
  options.spaces = words_of(arguments.get("--namespace"));
  options.operator_class = class_of(arguments);
  settings.operator_space = arguments.get("--operator-namespace", variable("POD_NAMESPACE", ""));
  settings.scrape_space = arguments.get("--scrape-namespace", settings.scrape_space);
  read_address(arguments.get("--metrics", ":8080"), options);
  options.elects = truth_of(arguments, "--leader-elect", options.elects);
  options.identity = arguments.get("--identity", variable("POD_NAME", host_name()));
  options.log_level = log_level_of(arguments);
  options.workers = int(arguments.integer("--workers", options.workers, 1, 64));
  settings.toleration_seconds = int(arguments.integer("--toleration", settings.toleration_seconds, 0, 3600));
  settings.grace_seconds = int(arguments.integer("--grace", settings.grace_seconds, 1, 3600));
  settings.mpi_jobs = truth_of(arguments, "--mpi-jobs", settings.mpi_jobs);
  settings.allowed = allowed_features(arguments);
  settings.kueue = truth_of(arguments, "--kueue", settings.kueue);
  options.reserve_after =
      Seconds(arguments.integer("--reserve-after", options.reserve_after.count(), 0, 604800));
  read_scale_up(arguments, options);
  options.lease = Seconds(arguments.integer("--lease", options.lease.count(), 3, 300));
  options.renew_within = options.lease * 2 / 3;
  options.lease_retry = std::max(Seconds(1), options.lease / 7);
  options.progress_every =
      Seconds(arguments.integer("--progress-every", options.progress_every.count(), 5, 3600));
  return options;
}

}  // namespace atl::ctl
