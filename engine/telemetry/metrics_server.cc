#include "telemetry/metrics_server.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/error.h"
#include "http/http_endpoint.h"
#include "telemetry/progress.h"

namespace atl {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};  // how long the other ranks may take to answer
constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kMetricsPage = "/metrics";
constexpr const char* kWaitPage = "/wait";  // where ranks of a server ask each other whom they wait for

LocalName name_of(const MetricsPlace& place, Rank rank) {
  return {fmt::format("{}-{}", place.name, rank)};
}

/// The other ranks of the server.
struct Others {
  std::vector<Rank> ranks;
  std::vector<LocalName> names;

  Others(const MetricsPlace& place, Rank self) {
    for (const Rank rank : place.ranks) {
      if (rank == self) continue;
      ranks.push_back(rank);
      names.push_back(name_of(place, rank));
    }
  }
};

}  // namespace

struct MetricsServer::State {
  State(const MetricsPlace& place, Rank self, const WaitBoard& board)
      : rank(self), others(place, self), waits(board), metrics(self) {
    if (self == std::ranges::min(place.ranks))
      endpoint = std::make_unique<HttpEndpoint>(place.host, place.port, pages_of_server());
    else
      endpoint = std::make_unique<HttpEndpoint>(name_of(place, self), pages_for_lowest());
  }

  HttpPages pages_of_server() {
    return {{kMetricsPage,
             [this] {
               return HttpPage{kMetricsType, server_metrics()};
             }},
            {"/progress",
             [this] {
               return HttpPage{"application/json", server_progress()};
             }},
            {"/healthz", [] {
               return HttpPage{"text/plain", "ok\n"};
             }}};
  }

  HttpPages pages_for_lowest() {
    return {{kMetricsPage,
             [this] {
               return HttpPage{kMetricsType, metrics.text()};
             }},
            {kWaitPage, [this] {
               return HttpPage{"application/json", wait_text(waits.read())};
             }}};
  }

  std::string server_metrics() {
    std::vector<std::string> pages{metrics.text()};
    std::string up = fmt::format(
        "# HELP atoll_rank_up Whether this rank answers; 0: it has not started, hangs or is gone.\n"
        "# TYPE atoll_rank_up gauge\natoll_rank_up{{rank=\"{}\"}} 1\n",
        rank);
    const auto theirs = ask_local(others.names, kMetricsPage, kPatience);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      up += fmt::format("atoll_rank_up{{rank=\"{}\"}} {}\n", others.ranks[i], theirs[i] ? 1 : 0);
      if (theirs[i]) pages.push_back(*theirs[i]);
    }
    pages.push_back(std::move(up));
    return join_expositions(pages);
  }

  std::string server_progress() {
    std::vector<RankWait> ranks{{rank, true, waits.read()}};
    const auto theirs = ask_local(others.names, kWaitPage, kPatience);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      const auto wait = theirs[i] ? read_wait(*theirs[i]) : std::nullopt;
      ranks.push_back({others.ranks[i], wait.has_value(), wait.value_or(WaitBoard::Wait{})});
    }
    const std::lock_guard lock(mutex);
    return progress.json(ranks);
  }

  const Rank rank;
  const Others others;
  const WaitBoard& waits;
  std::mutex mutex;  // guards progress
  ProgressState progress;
  RankMetrics metrics;
  std::unique_ptr<HttpEndpoint> endpoint;  // last: its thread uses the members above
};

MetricsServer::MetricsServer(const MetricsPlace& place, Rank rank, const WaitBoard& waits)
    : state_(std::make_unique<State>(place, rank, waits)) {}
MetricsServer::~MetricsServer() = default;

int MetricsServer::port() const {
  return state_->endpoint->port();
}

void MetricsServer::on_start(const RunRecord& run) {
  state_->metrics.start(run);
  const std::lock_guard lock(state_->mutex);
  state_->progress.start(run);
}

void MetricsServer::on_epoch(const EpochRecord& epoch) {
  state_->metrics.add(epoch);
  const std::lock_guard lock(state_->mutex);
  state_->progress.add(epoch);
}

void MetricsServer::on_step(const StepRecord& step) {
  state_->metrics.add(step);
  const std::lock_guard lock(state_->mutex);
  state_->progress.add(step);
}

void MetricsServer::on_checkpoint(const Reached& at) {
  state_->metrics.checkpoint(at.epochs);
  const std::lock_guard lock(state_->mutex);
  state_->progress.checkpoint(at.epochs);
}

void MetricsServer::on_result(const RunRecord& run) {
  const std::lock_guard lock(state_->mutex);
  state_->progress.finish(run);
}

}  // namespace atl
