#include "operator/run/progress.h"

#include <nlohmann/json.hpp>

#include "operator/api/json_values.h"
#include "operator/kube/cpprest_transport.h"
#include "operator/plan/json_members.h"
#include "operator/run/kinds.h"
#include "operator/run/parallel.h"
#include "operator/run/rank_pages.h"
#include "operator/run/stalled.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestAnswer = 64 << 10, kLargestHeaders = 8 << 10;
constexpr kube::Milliseconds kPatience{2000};
constexpr int kAtOnce = 16;
constexpr int kMostSilent = 3;  // servers, before it is taken for our ears
constexpr double kLongestEta = 10.0 * 365 * 24 * 3600;

/// Silence of all is our ears'.
std::optional<Rank> find_stalled(RankPages& pages, int ranks) {
  const auto first = pages.first_that_answers(kMostSilent);
  if (!first) return {};
  return stalled_rank(*first, [&](Rank rank) -> std::optional<ServerWaits> {
    const auto page = pages.page_of(rank);
    if (!page) return {};
    return read_waits(*page, ranks).value_or(ServerWaits{});
  });
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
    if (response.head.status != 200) return {};
    return std::move(response.body);
  } catch (const Error&) {
    return {};
  }
}

std::optional<Progress> read_progress(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  const auto epoch = integer_of(object, "epoch"), epochs = integer_of(object, "epochs");
  if (!epoch || !epochs || *epoch < 0 || *epochs < *epoch) return {};
  Progress progress;
  progress.epoch = epoch;
  progress.epochs = epochs;
  progress.last_checkpoint_epoch = integer_of(object, "lastCheckpointEpoch");
  progress.loss = number_of(object, "loss");
  progress.validation = number_of(object, "validation");
  progress.epoch_seconds = number_of(object, "epochSeconds");
  const auto left = number_of(object, "etaSeconds");
  if (left && *left >= 0 && *left <= kLongestEta) progress.eta = eta_text(*left);
  const json& bytes = member(object, "bytes");
  progress.intra_server_bytes = number_of(bytes, "intra");
  progress.inter_server_bytes = number_of(bytes, "inter");
  return progress;
}

void ProgressPoller::poll(Moment now) {
  std::vector<std::shared_ptr<const GnnJob>> running;
  for (auto& job : caches_.jobs())
    if (holds(job->status.conditions, kRunning)) running.push_back(std::move(job));
  in_parallel(running.size(), kAtOnce, [&](std::size_t i) { poll_job(*running[i], now); });
}

void ProgressPoller::poll_job(const GnnJob& job, Moment now) {
  RankPages pages(caches_, job.full_name(), handlers_.ask, port_);
  const PodView* pod = pages.pod_of(0);
  if (!pod || !job.job) return;
  const auto text = pages.page_of(0);
  const auto progress = text ? read_progress(*text) : std::nullopt;
  if (progress) take(job.full_name(), pod->meta.uid, job.status.attempt, *progress, now);
  // A rank 0 that has never spoken, to us or to the operator before us, may be one that still starts.
  const bool is_known = was_heard(job.full_name(), pod->meta.uid, job.status.attempt);
  if (!is_known && !job.status.progress.epoch) return;
  const auto stalled = find_stalled(pages, job.job->placement.ranks);
  if (is_known) take_stalled(job.full_name(), stalled);
  const bool is_silent = stalled && !pages.page_of(*stalled);
  take_silent(job, is_silent ? stalled : std::nullopt);
}

bool ProgressPoller::was_heard(const std::string& job, const std::string& pod_uid, int attempt) const {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(job);
  return found != entries_.end() && found->second.pod_uid == pod_uid && found->second.attempt == attempt;
}

/// No news: it matters once nothing has advanced for long.
void ProgressPoller::take_stalled(const std::string& job, std::optional<Rank> rank) {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(job);
  if (found != entries_.end()) found->second.heard.stalled_rank = rank;
}

void ProgressPoller::take_silent(const GnnJob& job, std::optional<Rank> rank) {
  const std::string name = job.full_name();
  {
    std::lock_guard lock(mutex_);
    if (!rank) {
      silent_.erase(name);
      return;
    }
    const auto [found, is_new] = silent_.try_emplace(name);
    const Silence now{job.status.attempt, *rank};
    if (!is_new && found->second == now) return;
    found->second = now;
  }
  handlers_.on_news(name);
}

void ProgressPoller::take(const std::string& job, const std::string& pod_uid, int attempt,
                          const Progress& progress, Moment now) {
  {
    std::lock_guard lock(mutex_);
    Entry& entry = entries_[job];
    const bool is_same_run = entry.pod_uid == pod_uid && entry.attempt == attempt;
    if (is_same_run && entry.heard.progress == progress) return;
    if (!is_same_run || entry.heard.progress.epoch != progress.epoch) entry.heard.advanced = now;
    entry.pod_uid = pod_uid;
    entry.attempt = attempt;
    entry.heard.progress = progress;
  }
  handlers_.on_news(job);
}

std::optional<Heard> ProgressPoller::heard(const std::string& job) const {
  const auto known = caches_.job(job);
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(job);
  if (!known || found == entries_.end() || found->second.attempt != known->status.attempt) return {};
  return found->second.heard;
}

std::optional<Rank> ProgressPoller::silent_rank(const std::string& job) const {
  const auto known = caches_.job(job);
  std::lock_guard lock(mutex_);
  const auto found = silent_.find(job);
  if (!known || found == silent_.end() || found->second.attempt != known->status.attempt) return {};
  return found->second.rank;
}

void ProgressPoller::forget(const std::string& job) {
  std::lock_guard lock(mutex_);
  silent_.erase(job);
  entries_.erase(job);
}

}  // namespace atl::ctl
