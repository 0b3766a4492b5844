#include "operator/api/messages.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <set>
#include <utility>

#include "base/json.h"
#include "job/layout.h"
#include "operator/api/json_values.h"
#include "operator/api/pod.h"
#include "operator/plan/json_members.h"
#include "operator/plan/traffic.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestText = 1024, kLongestName = 253;

json parse_object(const std::string& text) {
  json object = json_or_discarded(text);
  return object.is_object() ? object : json();
}

Culprit culprit_of(const json& object) {
  return {integer_of(object, "rank"), signal_name(int(integer_of(object, "signal").value_or(0))),
          bounded(text_of(object, "pod"), kLongestName), bounded(text_of(object, "node"), kLongestName)};
}

/// Reads a rank's end from a launcher's report.
std::optional<RankEnd> end_of_rank(const json& object) {
  if (!integer_of(object, "rank")) return {};
  const bool has_exited = integer_of(object, "exitCode").value_or(0) > 0;
  RankEnd end{culprit_of(object), has_exited ? "Exit" : "Lost", ""};
  if (!end.culprit.signal.empty()) end.reason = "Signal";
  if (end.reason == "Lost" && member(object, "answers") == true) end.reason = "Disconnected";
  return end;
}

/// Whether a row is [from, to, bytes].
bool is_flow(const json& row, std::int64_t ranks) {
  auto in_range = [&](const json& rank) { return rank.is_number_integer() && rank >= 0 && rank < ranks; };
  return row.is_array() && row.size() == 3 && in_range(row[0]) && in_range(row[1]) && row[2].is_number() &&
         row[2] >= 0;
}

/// The parts by rank; nothing unless each of 0 … ranks − 1 is listed exactly once.
std::optional<std::vector<int>> parts_of(const json& object, std::int64_t ranks) {
  std::vector<int> parts;
  std::set<std::int64_t> seen;
  for (const json& part : list_of(object, "parts")) {
    if (!part.is_number_integer() || part < 0 || part >= ranks) return {};
    parts.push_back(part.get<int>());
    if (!seen.insert(parts.back()).second) return {};
  }
  if (!parts.empty() && std::int64_t(parts.size()) != ranks) return {};
  return parts;
}

}  // namespace

std::optional<LaunchResult> read_launch_result(const std::string& message) {
  const json object = parse_object(message);
  const auto status = integer_of(object, "status");
  if (!status) return {};
  const json& result = member(object, "result");
  LaunchResult read;
  read.status = int(*status);
  read.outcome = bounded(text_of(result, "outcome"), kLongestText);
  read.result = {number_of(result, "test"), integer_of(result, "bestEpoch")};
  read.epochs = integer_of(result, "epochs");
  read.rank_end = end_of_rank(member(object, "culprit"));
  read.message = bounded(text_of(object, "message"), kLongestText);
  return read;
}

std::optional<RankEnd> read_rank_end(const std::string& message) {
  const json object = parse_object(message);
  const std::string reason = bounded(text_of(object, "reason"), kLongestText);
  if (reason.empty()) return {};
  return RankEnd{culprit_of(object), reason, bounded(text_of(object, "message"), kLongestText)};
}

std::vector<PairBytes> all_flows(const Prepared& prepared, const std::vector<std::vector<Rank>>& servers) {
  std::vector<PairBytes> flows = prepared.flows;
  if (prepared.unlisted_flow == 0) return flows;
  std::vector<std::size_t> server_of(std::size_t(prepared.ranks));
  for (std::size_t s = 0; s < servers.size(); ++s)
    for (const Rank rank : servers[s]) server_of[std::size_t(rank)] = s;
  std::vector<bool> is_listed(servers.size() * servers.size());
  std::size_t unlisted = servers.size() * (servers.size() - 1) / 2;  // pairs of servers
  for (const PairBytes& flow : prepared.flows) {
    const std::size_t a = server_of[std::size_t(flow.from)], b = server_of[std::size_t(flow.to)];
    if (a != b && !is_listed[a * servers.size() + b]) --unlisted;
    is_listed[a * servers.size() + b] = is_listed[b * servers.size() + a] = true;
  }
  std::vector<PairBytes> pairs = pairs_of_all(int(servers.size()), prepared.unlisted_flow);
  std::erase_if(pairs, [&](const PairBytes& pair) -> bool {
    return is_listed[std::size_t(pair.from) * servers.size() + std::size_t(pair.to)];
  });
  // If some pairs stand for all, the remaining ones share the bytes of all unlisted pairs.
  const double of_each = prepared.unlisted_flow * (double(unlisted) / double(pairs.size()));
  for (const PairBytes& pair : pairs)
    flows.push_back(
        {int(servers[std::size_t(pair.from)].front()), int(servers[std::size_t(pair.to)].front()), of_each});
  return flows;
}

std::string last_line(const std::string& log) {
  const auto end = log.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const auto newline = log.find_last_of('\n', end);
  const auto begin = newline == std::string::npos ? 0 : newline + 1;
  return log.substr(begin, end - begin + 1);
}

std::optional<Prepared> read_prepared(const std::string& line) {
  const json object = parse_object(line);
  const auto ranks = integer_of(object, "ranks");
  if (!ranks || *ranks < 1 || *ranks > kMostRanks || !member(object, "flows").is_array()) return {};
  auto parts = parts_of(object, *ranks);
  const std::string strategy = text_of(object, "strategy");
  if (!parts || strategy.size() > kLongestText) return {};
  Prepared read{bounded(text_of(object, "preparedChecksum"), kLongestName),
                int(*ranks),
                std::move(*parts),
                {},
                std::max(number_of(object, "unlistedFlow").value_or(0), 0.0),
                strategy,
                bounded(text_of(object, "strategyReason"), kLongestText)};
  for (const json& row : list_of(object, "flows")) {
    if (!is_flow(row, *ranks)) return {};
    read.flows.push_back({row[0].get<int>(), row[1].get<int>(), row[2].get<double>()});
  }
  return read;
}

namespace {

/// Words of CUDA, of the engine about CUDA, of the driver, and of the runtime that gives GPUs to a container.
/// They mean that the node is to blame, and not the rank that met the error. The first words in this table
/// that the message contains count.
struct GpuWords {
  const char *words, *reason;
};
constexpr GpuWords kGpuWords[] = {
    {"uncorrectable ECC error", kGpuFault},
    {"uncorrectable NVLink error", kGpuFault},
    {"over nvlink or a hardware error", kGpuFault},
    {"hardware stack error", kGpuFault},
    {"is/are busy or unavailable", kGpuFault},  // an earlier process hangs on the GPU
    {"system not yet initialized", kGpuFault},  // the fabric manager of the switches doesn't run
    {"unsupported display driver / cuda driver combination", kGpuDriver},
    {"the NVIDIA driver of this machine is missing or older", kGpuDriver},
    {"this machine has no NVIDIA GPU", kGpuDriver},
    {"GPU has fallen off the bus", kGpuFault},
    {"GPU is lost", kGpuFault},
    {"requirement error: unsatisfied condition", kGpuDriver},  // the image needs a newer driver
    {"nvidia-container-cli: device error", kGpuFault},
    {"nvidia-container-cli", kGpuDriver},  // a mount or ldcache error may be the image's, on any node
    {"unresolvable CDI devices", kGpuFault},
};

/// Xids of the driver that no program can cause. They concern memory (48, 64, 94, 95, 140), NVLink (74), the
/// bus (79), and the GPU's own processors (62, 119, 120).
constexpr int kXids[] = {48, 62, 64, 74, 79, 94, 95, 119, 120, 140};

/// The reason that the message's words stand for, and where they begin.
std::optional<std::pair<const char*, std::size_t>> find_words(const std::string& message) {
  for (const GpuWords& each : kGpuWords)
    if (const auto at = message.find(each.words); at != std::string::npos) return std::pair(each.reason, at);
  for (auto at = message.find("Xid ("); at != std::string::npos; at = message.find("Xid (", at + 1)) {
    int xid = 0;  // the number in "NVRM: Xid (PCI:0000:3b:00): 79, …"
    const bool is_read = std::sscanf(message.c_str() + at, "Xid (%*[^)]): %d", &xid) == 1;
    if (is_read && std::ranges::count(kXids, xid) > 0) return std::pair(kGpuFault, at);
  }
  return {};
}

/// The rank in a line like "atoll: rank 3 on cora-1-0: device cuda: …". `before` is the text up to the words
/// of the error.
std::optional<std::int64_t> last_rank_of_line(const std::string& before) {
  const auto line = before.rfind('\n'), at = before.rfind("rank ");
  const bool is_in_line = at != std::string::npos && (line == std::string::npos || at > line);
  int rank = 0;
  const bool is_named = is_in_line && std::sscanf(before.c_str() + at, "rank %d", &rank) == 1;
  return is_named ? std::optional<std::int64_t>(rank) : std::nullopt;
}

}  // namespace

std::optional<GpuBlame> gpu_blame(const std::string& message) {
  const auto found = find_words(message);
  if (!found) return {};
  return GpuBlame{found->first, last_rank_of_line(message.substr(0, found->second))};
}

}  // namespace atl::ctl
