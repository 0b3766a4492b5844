#include "operator/run/rank_pages.h"

#include <fmt/format.h>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "base/json.h"
#include "operator/api/json_values.h"
#include "operator/kube/transport.h"
#include "operator/objects/names.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestAnswer = 64 << 10, kLargestHeaders = 8 << 10;
constexpr kube::Milliseconds kPatience{2000};
constexpr double kLongestEta = 10.0 * 365 * 24 * 3600, kMostBytes = 9e18;

/// A whole number of bytes, as in a status.
std::optional<double> whole_bytes(const json& object, const char* name) {
  const auto bytes = number_of(object, name);
  if (!bytes || *bytes < 0 || *bytes > kMostBytes) return {};
  return std::round(*bytes);
}

}  // namespace

std::optional<std::string> ask_for_progress(const std::string& address) {
  try {
    const auto transport =
        kube::cpprest_transport(address, [] { return std::make_shared<kube::Credentials>(); });
    kube::Request request;
    request.target = "/progress";
    request.deadline = kPatience;
    request.limits.headers = kLargestHeaders;
    request.limits.body = kLargestAnswer;
    kube::Response response = transport->call(request);
    return response.head.status == 200 ? std::optional(std::move(response.body)) : std::nullopt;
  } catch (const Error&) {
    return {};
  }
}

std::optional<std::int64_t> read_step(const std::string& text) {
  return integer_of(json_or_discarded(text), "step");
}

std::optional<Progress> read_progress(const std::string& text) {
  const json object = json_or_discarded(text);
  const auto epoch = integer_of(object, "epoch"), epochs = integer_of(object, "epochs");
  if (!epoch || !epochs || *epoch < 0 || *epochs < *epoch) return {};
  Progress progress;
  progress.epoch = epoch;
  progress.epochs = epochs;
  const auto checkpoint = integer_of(object, "lastCheckpointEpoch");
  if (checkpoint && *checkpoint >= 0) progress.last_checkpoint_epoch = checkpoint;
  progress.loss = number_of(object, "loss");
  progress.validation = number_of(object, "validation");
  progress.epoch_seconds = number_of(object, "epochSeconds");
  const auto left = number_of(object, "etaSeconds");
  if (left && *left >= 0 && *left <= kLongestEta) progress.eta = eta_text(*left);
  const json& bytes = member(object, "bytes");
  progress.intra_server_bytes = whole_bytes(bytes, "intra");
  progress.inter_server_bytes = whole_bytes(bytes, "inter");
  return progress;
}

namespace {

std::vector<Rank> ranks_of(const PodView& pod) {
  std::vector<Rank> ranks;
  std::istringstream words(pod.meta.annotation(kRanksAnnotation));
  for (std::string word; std::getline(words, word, ',');) {
    Rank rank = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), rank).ec == std::errc())
      ranks.push_back(rank);
  }
  return ranks;
}

std::string address_of(const PodView& pod, int port) {
  const bool is_ipv6 = pod.ip.find(':') != std::string::npos;
  return fmt::format("http://{}:{}", is_ipv6 ? "[" + pod.ip + "]" : pod.ip, port);
}

}  // namespace

RankPages::RankPages(const Caches& caches, const std::string& job, const Ask& ask, int port)
    : ask_(ask), port_(port) {
  for (const auto& pod : caches.pods_of(job)) {
    const bool is_there = pod->phase == "Running" && !pod->ip.empty() && !pod->is_terminating();
    if (!is_there || pod->meta.label(kRoleLabel) != kWorkerRole) continue;
    for (const Rank rank : ranks_of(*pod)) pods_[rank] = pod;
  }
}

std::optional<std::string> RankPages::page_of(Rank rank) {
  const auto holder = pods_.find(rank);
  if (holder == pods_.end()) return {};
  const PodView* pod = holder->second.get();
  const auto [found, is_new] = pages_.try_emplace(pod);
  if (is_new) found->second = ask_(address_of(*pod, port_));
  return found->second;
}

std::vector<Rank> RankPages::lowest_ranks(std::size_t most) const {
  std::vector<Rank> ranks;
  const PodView* last = nullptr;
  for (const auto& [rank, pod] : pods_) {
    if (ranks.size() == most) break;
    if (pod.get() != last) ranks.push_back(rank);
    last = pod.get();
  }
  return ranks;
}

namespace {

using nlohmann::json;

constexpr int kMostWaitedFor = 8;  // servers

bool is_rank(const json& value, int ranks) {
  return value.is_number_integer() && value >= 0 && value < ranks;
}

}  // namespace

std::optional<ServerWaits> read_waits(const std::string& text, int ranks) {
  const json page = json_or_discarded(text);
  if (!member(page, "ranks").is_array()) return {};
  ServerWaits waits;
  for (const json& entry : list_of(page, "ranks")) {
    if (!is_rank(member(entry, "rank"), ranks)) continue;
    auto& peers = waits[member(entry, "rank").get<Rank>()];
    if (member(entry, "answers") != true) continue;
    peers.emplace();
    for (const json& peer : list_of(entry, "waitingFor"))
      if (is_rank(peer, ranks)) peers->push_back(peer.get<Rank>());
  }
  return waits;
}

std::optional<Rank> stalled_rank(Rank first, const AskServer& ask) {
  ServerWaits known;
  std::set<Rank> passed;
  std::vector<Rank> open{first};
  int asked = 0;
  while (!open.empty()) {
    const Rank rank = open.back();
    open.pop_back();
    if (!passed.insert(rank).second) continue;
    if (!known.contains(rank)) {
      if (asked++ == kMostWaitedFor) return {};
      const auto said = ask(rank);
      if (!said) return rank;
      known.insert(said->begin(), said->end());
      if (!known.contains(rank)) continue;  // that server says nothing about this rank
    }
    const auto& peers = known[rank];
    if (!peers || peers->empty()) return rank;
    open.insert(open.end(), peers->rbegin(), peers->rend());
  }
  return {};
}

}  // namespace atl::ctl
