#include "operator/run/progress.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include "base/json.h"
#include "operator/api/json_values.h"
#include "operator/kube/transport.h"
#include "operator/objects/names.h"
#include "operator/plan/json_members.h"
#include "operator/run/kinds.h"
#include "operator/run/parallel.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestAnswer = 64 << 10, kLargestHeaders = 8 << 10;
constexpr kube::Milliseconds kPatience{2000}, kSlow{1000};
constexpr std::size_t kMostAsked = 3;  // servers, to find one that answers
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

void ProgressPoller::poll(Moment now) {
  {
    std::lock_guard lock(mutex_);  // the last poll may have entered one that was forgotten meanwhile
    std::erase_if(entries_, [this](const auto& entry) { return !caches_.job(entry.first); });
  }
  Jobs running = caches_.jobs();
  std::erase_if(running, [](const auto& job) { return !holds(job->status.conditions, kRunning); });
  Jobs slow = take_slow(running);
  for (const Jobs& jobs : {running, slow})
    in_parallel(jobs.size(), handlers_.at_once, [&](std::size_t i) { poll_job(*jobs[i], now); });
}

ProgressPoller::Jobs ProgressPoller::take_slow(Jobs& running) {
  std::multimap<Time, std::shared_ptr<const GnnJob>> slow;  // by when they were asked last
  std::lock_guard lock(mutex_);
  std::erase_if(running, [&](const auto& job) {
    const auto found = entries_.find(job->full_name());
    const bool is_slow = found != entries_.end() && found->second.is_slow;
    if (is_slow) slow.emplace(found->second.asked, job);
    return is_slow;
  });
  Jobs turn;
  for (auto next = slow.begin(); next != slow.end() && std::ssize(turn) < handlers_.at_once; ++next) {
    entries_.at(next->second->full_name()).asked = handlers_.clock->now();  // though it may have no pod
    turn.push_back(std::move(next->second));
  }
  return turn;
}

void ProgressPoller::poll_job(const GnnJob& job, Moment now) {
  RankPages pages(caches_, job.full_name(), handlers_.ask, port_);
  if (pages.are_none() || !job.job) return;
  // Before anybody has reported, to us or to the operator before us, ranks may still be starting: other
  // servers know no more than the first.
  const auto known = heard(job.full_name());
  const bool has_spoken = job.status.progress.epoch || (known && known->progress);
  const auto asked = handlers_.clock->now();
  const auto word = ask_servers(pages, has_spoken ? kMostAsked : 1, job.job->placement.ranks);
  if (enter(job, word, now, asked)) handlers_.on_news(job.full_name());
}

/// The word of the first server that answers like a rank, asking at most `most` servers.
std::optional<ProgressPoller::Word> ProgressPoller::ask_servers(RankPages& pages, std::size_t most,
                                                                int ranks) {
  for (const Rank speaker : pages.lowest_ranks(most)) {
    const auto page = pages.page_of(speaker);
    const auto progress = page ? read_progress(*page) : std::nullopt;
    if (!progress) continue;
    Word word{speaker, *progress, read_step(*page), {}, {}};
    word.stalled_rank = stalled_rank(speaker, [&](Rank rank) -> std::optional<ServerWaits> {
      const auto theirs = pages.page_of(rank);
      if (!theirs) return {};
      return read_waits(*theirs, ranks).value_or(ServerWaits{});
    });
    if (word.stalled_rank && !pages.page_of(*word.stalled_rank)) word.silent_rank = word.stalled_rank;
    return word;
  }
  return {};
}

/// Whether the news needs a new look at the job.
bool ProgressPoller::enter(const GnnJob& job, const std::optional<Word>& word, Moment now, Time asked) {
  std::lock_guard lock(mutex_);
  Entry& entry = entries_[job.full_name()];
  if (entry.attempt != job.status.attempt)
    entry = {.attempt = job.status.attempt, .heard = {.answered = now}};
  const Entry before = entry;
  entry.is_answered = word.has_value();
  entry.asked = asked;
  entry.is_slow = handlers_.clock->now() - asked >= kSlow;
  entry.silent_rank = word ? word->silent_rank : std::nullopt;
  if (word) take_progress(entry, *word, job.status.progress, now);
  // It may have stalled, which only an answer after the deadline shows.
  const bool is_overdue =
      word && now - entry.heard.advanced >= Seconds(job.job->run_policy.progress_deadline_seconds);
  return entry.heard.progress != before.heard.progress || entry.silent_rank != before.silent_rank ||
         (word && !before.is_answered) || is_overdue;
}

/// `before`: from the status. An operator that has just started goes on from there, except for steps, which
/// the status doesn't have. Servers end an epoch one after the other: one that is behind hasn't advanced, and
/// one that falls back has begun again.
void ProgressPoller::take_progress(Entry& entry, const Word& word, const Progress& before, Moment now) {
  const auto epoch = word.progress.epoch;
  const std::pair said{epoch, word.step}, known{entry.epoch, entry.step};
  const bool is_first = !entry.heard.progress;
  if (is_first || (word.speaker == entry.leader ? said != known : said > known)) {
    const bool is_known = is_first && before.advanced && epoch <= before.epoch && !word.step;
    entry.heard.advanced = is_known ? std::min(*before.advanced, now) : now;
    entry.leader = word.speaker;
    entry.epoch = epoch;
    entry.step = word.step;
  }
  entry.heard.progress = word.progress;
  entry.heard.answered = now;
  entry.heard.stalled_rank = word.stalled_rank;
}

std::optional<ProgressReport> ProgressPoller::heard(const std::string& job) const {
  const auto known = caches_.job(job);
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(job);
  if (!known || found == entries_.end() || found->second.attempt != known->status.attempt) return {};
  return found->second.heard;
}

std::optional<Rank> ProgressPoller::silent_rank(const std::string& job) const {
  const auto known = caches_.job(job);
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(job);
  if (!known || found == entries_.end() || found->second.attempt != known->status.attempt) return {};
  return found->second.silent_rank;
}

void ProgressPoller::forget(const std::string& job) {
  std::lock_guard lock(mutex_);
  entries_.erase(job);
}

std::size_t ProgressPoller::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
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
      if (!known.contains(rank)) continue;  // that server reports on other ranks only
    }
    const auto& peers = known[rank];
    if (!peers || peers->empty()) return rank;
    open.insert(open.end(), peers->rbegin(), peers->rend());
  }
  return {};
}

}  // namespace atl::ctl
