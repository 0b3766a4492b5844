// atoll launch: trains a manifest on hosts that run sshd. On a cluster, the launcher's pod runs it when every
// other pod of the job is ready; it writes how the run ended to a file that the operator reads.
#include <cstdio>

#include "base/error.h"
#include "base/json.h"
#include "command/commands.h"
#include "command/job_data.h"
#include "command/run/attempt_file.h"
#include "command/run/rank_start.h"
#include "launch/launch.h"
#include "launch/places.h"
#include "launch/rank_guard.h"
#include "launch/supervisor.h"
#include "partition/local_graph.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::chrono::seconds kTimeToAnswer{8};

std::vector<std::string> rank_program(const Arguments& a, const Job& job, const AttemptFile& attempt) {
  std::vector<Place> places;
  for (const AttemptServer& server : attempt.servers)
    places.push_back({server.pod, server.ranks, server.node});
  std::vector<std::string> program{std::filesystem::read_symlink("/proc/self/exe").string(),
                                   "train",
                                   "--job",
                                   a.get("--file"),
                                   "--dataset",
                                   dataset_place(a, job).string(),
                                   "--output",
                                   (std::filesystem::path(a.get("--output")) / job.output.path).string(),
                                   "--make-output",
                                   "--attempt",
                                   std::to_string(attempt.attempt),
                                   "--places",
                                   places_text(places),
                                   "--result-line"};
  if (const auto threads = stated_threads(a, job))
    program.insert(program.end(), {"--threads", std::to_string(*threads)});
  if (const auto prepared = prepared_place(a); !prepared.empty())
    program.insert(program.end(), {"--prepared", prepared.string()});
  if (!attempt.run.empty()) program.insert(program.end(), {"--run", attempt.run});
  if (!attempt.parts.empty()) program.insert(program.end(), {"--parts", parts_text(attempt.parts)});
  if (!attempt.prepared.empty()) program.insert(program.end(), {"--prepared-checksum", attempt.prepared});
  if (!attempt.strategy.empty()) program.insert(program.end(), {"--strategy", attempt.strategy});
  for (const char* option : {"--timeout", "--metrics", "--device"}) {
    if (a.has(option)) program.insert(program.end(), {option, a.get(option)});
  }
  return program;
}

RemoteHosts hosts_of(const Arguments& a, const AttemptFile& attempt, int ranks) {
  RemoteHosts hosts{{}, a.get("--shell")};
  for (Rank rank = 0; rank < ranks; ++rank) hosts.addresses.push_back(attempt.server_of(rank).address);
  return hosts;
}

HostPort sshd_of(const Arguments& a, const AttemptServer& server) {
  return {server.pod, server.address, int(a.integer("--port", 2222, 1, 65535))};
}

void wait_for_hosts(const Arguments& a, const AttemptFile& attempt) {
  std::vector<HostPort> hosts;
  for (const AttemptServer& server : attempt.servers) hosts.push_back(sshd_of(a, server));
  wait_until_reachable(hosts, std::chrono::seconds(a.integer("--wait", 60, 1, kLongestTimeout)));
}

/// Passes on the lines of ranks, and keeps their result. For a run without a result it keeps the line that
/// says why. That is the first error of a GPU, otherwise the first error of a rank, because errors of other
/// ranks follow from it, otherwise the last line.
struct ProgressReport {
  Json result;
  std::string last_line, gpu_error, rank_error;

  void operator()(const std::string& line) {
    const std::string mark = std::string(kResultMark) + " ";
    if (line.starts_with(mark)) {
      result = ordered_json_or_discarded(line.substr(mark.size()));
      return;
    }
    std::fprintf(stderr, "%s\n", line.c_str());
    if (!line.empty()) last_line = line;
    if (gpu_error.empty() && line.find("device cuda: ") != std::string::npos) gpu_error = line;
    const auto failed = read_rank_failure(line);
    if (rank_error.empty() && failed && failed->signal == 0) rank_error = line;
  }

  const std::string& why() const {
    return !gpu_error.empty() ? gpu_error : !rank_error.empty() ? rank_error : last_line;
  }
};

/// Whether a lost host answers within a short time.
bool has_answered(const Arguments& a, const AttemptServer& server) {
  try {
    wait_until_reachable({sshd_of(a, server)}, kTimeToAnswer);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Names the lost server if mpirun ended without naming a rank, and says whether it answers again. If it
/// does, only the network failed. If mpirun hung, the lost server is the first one that doesn't answer, if
/// there is one.
Json lost_server(const Arguments& a, const AttemptFile& attempt, LaunchEnd& end) {
  for (const AttemptServer& server : attempt.servers) {
    if (server.address != end.lost_host && !end.hung) continue;
    const bool answers = has_answered(a, server);
    if (answers && end.hung) continue;
    end.reason = fmt::format("mpirun lost its connection to {} on {}, which {}", server.pod, server.node,
                             answers ? "answers again" : "does not answer");
    return {{"rank", server.ranks.front()}, {"pod", server.pod}, {"node", server.node}, {"answers", answers}};
  }
  return {};
}

Json end_json(const LaunchEnd& end, const ProgressReport& heard, const AttemptFile& attempt, Json lost_host) {
  Json json{{"attempt", attempt.attempt}, {"status", end.status}};
  if (heard.result.is_object()) json["result"] = heard.result;
  if (lost_host.is_object()) {
    json["culprit"] = std::move(lost_host);
  } else if (end.lost) {
    const AttemptServer& server = attempt.server_of(end.lost->rank);
    json["culprit"] = {{"rank", end.lost->rank},
                       {"pod", server.pod},
                       {"node", server.node},
                       {"signal", end.lost->signal},
                       {"exitCode", end.lost->exit_code}};
  }
  const std::string& why = end.reason.empty() ? heard.why() : end.reason;
  if (end.status != 0) json["message"] = why;
  return json;
}

LaunchEnd train_on(const Arguments& a, const Job& job, const AttemptFile& attempt, ProgressReport& heard) {
  wait_for_hosts(a, attempt);
  LaunchPlan plan;
  plan.ranks = job.placement.ranks;
  plan.hosts = hosts_of(a, attempt, plan.ranks);
  plan.program = rank_program(a, job, attempt);
  const std::chrono::seconds timeout(a.integer("--timeout", 300, 1, kLongestTimeout));
  plan.start_patience = start_patience_of(timeout);
  plan.leave_patience = leave_patience_of(timeout);
  plan.message = std::ref(heard);
  return launch(plan);
}

/// Turns an interruption into its own status. Ranks that were asked to end have written a checkpoint and
/// ended well, but training isn't done. If ranks hadn't begun to train, their status says so.
void judge_interruption(LaunchEnd& end, const ProgressReport& heard) {
  if (end.status == kStatusInterrupted && end.lost) {
    end.reason = "the ranks were asked to end before they trained";
    end.lost.reset();
  }
  if (end.status != 0 || !heard.result.is_object() || heard.result.value("outcome", "") != "interrupted")
    return;
  end.status = kStatusInterrupted;
  end.reason = "the ranks were asked to end, and wrote a checkpoint";
}

int run_launch(const Arguments& a) {
  const Job job = load_job_of(a, say).job;
  const AttemptFile attempt = read_attempt_file(a.get("--servers"), job.placement.ranks);
  make_user_known();
  LaunchEnd end;
  ProgressReport heard;
  try {
    end = train_on(a, job, attempt, heard);
    judge_interruption(end, heard);
  } catch (const Error& error) {
    end = {kStatusFailed, error.what(), {}, {}};
  }
  Json lost_host = lost_server(a, attempt, end);
  if (!end.reason.empty()) say(end.reason);
  leave_word(a.get("--result", "/dev/termination-log"), end_json(end, heard, attempt, std::move(lost_host)));
  return end.status;
}

}  // namespace

Command launch_command() {
  Command command{
      "launch",
      "train a manifest on hosts that sshd reaches (the operator's pods call it)",
      {{"-f,--file", "FILE", "the manifest, at the same place on every host", true},
       {"--servers", "FILE", "attempt.json: which rank runs where", true},
       {"--output", "DIR", "folder on rank 0's host that holds output.path", true},
       {"--result", "FILE", "file for how the run ended, one JSON object (/dev/termination-log)"},
       {"--shell", "COMMAND", "remote shell, called with a host's address and a command", true},
       {"--data-root", "DIR", "folder on every host that holds the data sets"},
       prepared_argument(),
       {"--threads", "N", "threads per rank (resources.cpu, or a node's cores divided among its ranks)"},
       {"--device", "NAME", "auto, cpu or cuda (auto: a GPU where there is one)"},
       {"--port", "N", "port that must answer on every host before ranks start (2222)"},
       {"--wait", "SECONDS", "how long to wait for these ports (60)"},
       {"--timeout", "SECONDS", "how long to wait for a rank that doesn't answer (300)"},
       {"--metrics", "[HOST:]PORT", "serve /metrics, /progress and /healthz of each host's ranks"}},
      run_launch};
  command.caller = "the operator";
  return command;
}

}  // namespace atl
