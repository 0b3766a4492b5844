// atoll supervise: PID 1 of a pod with ranks (launch/supervisor.h).
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "command/commands.h"
#include "command/run/attempt_file.h"
#include "launch/supervisor.h"

namespace atl {
namespace {

constexpr const char* kSshd = "/usr/sbin/sshd -D -e -f /etc/atoll/sshd_config";  // as in the engine's image

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.empty() || words[0][0] != '/')
    fail("--daemon: '{}' is not allowed (use an absolute path and arguments)", line);
  return words;
}

/// Whether a variable is for ranks: those that the GPU's driver, CUDA (MPS too), NCCL and their network
/// libraries read. Kubelet, device plugins and the job's template set them for the container, but ranks run
/// in sessions of the container's sshd.
bool is_for_sessions(std::string_view variable) {
  constexpr std::string_view kFamilies[] = {"CUDA_", "FI_",     "IBV_",      "LD_LIBRARY_PATH=", "MLX5_",
                                            "NCCL_", "NVIDIA_", "OFI_NCCL_", "RDMAV_",           "UCX_"};
  return std::ranges::any_of(kFamilies, [&](std::string_view each) { return variable.starts_with(each); });
}

/// sshd's options that give ranks these variables: a session inherits none of sshd's own.
std::vector<std::string> variables_for_sessions() {
  std::string variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view text(*each);
    if (!is_for_sessions(text)) continue;
    if (text.find_first_of("\"'\\\n") == std::string_view::npos)
      variables += fmt::format(" \"{}\"", text);
    else
      std::fprintf(stderr,
                   "atoll: %.*s isn't handed to ranks: its value has a quote, a backslash or a line break "
                   "(give it another)\n",
                   int(text.find('=')), text.data());
  }
  if (variables.empty()) return {};
  return {"-o", "SetEnv" + variables};
}

nlohmann::ordered_json end_json(const SuperviseEnd& end) {
  nlohmann::ordered_json json{{"reason", end.reason}, {"message", end.message}};
  if (end.rank) json["rank"] = *end.rank;
  if (end.reason == "OOMKilled") json["signal"] = end.status - 128;
  return json;
}

int run_supervise(const Arguments& a) {
  SupervisePlan plan;
  plan.daemon = words_of(a.get("--daemon", kSshd));
  for (const std::string& word : variables_for_sessions()) plan.daemon.push_back(word);
  plan.stop_patience = std::chrono::seconds(a.integer("--grace", 50, 0, kLongestTimeout));
  make_user_known();
  if (const auto text = infiniband_text("/sys/class/infiniband", "/dev/infiniband"); !text.empty())
    std::fprintf(stderr, "atoll: %s\n", text.c_str());
  const SuperviseEnd end = supervise(plan);
  std::fprintf(stderr, "atoll: %s\n", end.message.c_str());
  leave_word(a.get("--result", "/dev/termination-log"), end_json(end));
  return end.status;
}

}  // namespace

Command supervise_command() {
  Command command{
      "supervise",
      "watch over the ranks of a pod (the operator's pods call it)",
      {{"--daemon", "WORDS", "program by which mpirun reaches the pod: absolute path and arguments (sshd)"},
       {"--result", "FILE", "file for how the pod ended, one JSON object (/dev/termination-log)"},
       {"--grace", "SECONDS", "time for ranks to write a checkpoint before they end (50)"}},
      run_supervise};
  command.caller = "the operator";
  return command;
}

}  // namespace atl
