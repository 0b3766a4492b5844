#include "plan/probe.h"

#include <algorithm>
#include <barrier>
#include <exception>
#include <map>
#include <thread>

#include "base/threads.h"
#include "comm/communicator.h"
#include "job/strategies.h"
#include "plan/bench/stopwatch.h"
#include "plan/emulated_transport.h"
#include "train/telemetry/record.h"
#include "train/trainer.h"

namespace atl {
namespace {

// The first epoch claims memory, and where rows are late by an epoch the next ones find the links less busy than they will be.
// Of long epochs, some are enough.
constexpr int kJudged = 5, kFewest = 1 + kJudged, kMost = 20;
constexpr double kLong = 5;  // seconds

/// Between evaluations, which measure more than an epoch needs.
Job in_training(const Job& job) {
  Job probed = job;
  probed.training.evaluate_every = 0;
  return probed;
}

std::vector<std::string> hosts_of(const std::vector<std::vector<Rank>>& servers, int ranks) {
  std::vector<std::string> hosts(static_cast<std::size_t>(ranks));
  for (std::size_t s = 0; s < servers.size(); ++s)
    for (const Rank rank : servers[s]) hosts[std::size_t(rank)] = "server" + std::to_string(s);
  return hosts;
}

/// What crosses a server's link in forward passes; the gradients of it go back.
struct Ways {
  double out = 0, in = 0;
  double heavier() const { return std::max(out, in); }
  double lighter() const { return std::min(out, in); }
  double both() const { return out + in; }
};

double ratio(double most, double own) {
  return own > 0 && most > 0 ? most / own : 1;
}

/// (ranks) How much more crosses the link of the server that others wait for than that of the rank's own. In step, an exchange takes
/// the heaviest of all ways, forward and back; where exchanges overlap, the server with the largest sum of both is the last.
std::vector<Busiest> busiest_over(const std::vector<std::string>& hosts, std::span<const PairBytes> flows) {
  std::map<std::string, Ways> ways;
  for (const PairBytes& flow : flows) {
    const std::string &from = hosts[std::size_t(flow.from)], &to = hosts[std::size_t(flow.to)];
    if (from != to) ways[from].out += flow.forward, ways[to].in += flow.forward;
  }
  double heaviest = 0, both = 0;
  for (const auto& [host, load] : ways) {
    heaviest = std::max(heaviest, load.heavier());
    both = std::max(both, load.both());
  }
  std::vector<Busiest> all;
  for (const std::string& host : hosts)
    all.push_back({ratio(heaviest, ways[host].heavier()), ratio(both - heaviest, ways[host].lighter())});
  return all;
}

class Probe {
 public:
  Probe(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, const ProbeOptions& options)
      : job_(in_training(job)),
        dataset_(dataset),
        prepared_(prepared),
        options_(options),
        hosts_(hosts_of(find_strategy(job.strategy.kind)->layout(job).groups, job.placement.ranks)),
        busiest_(busiest_over(hosts_, options.traffic.flows)),
        step_(std::ptrdiff_t(options.ranks.size()), Next{this}),
        probed_(options.ranks.size()),
        failures_(options.ranks.size()) {}

  ProbedEpoch run() {
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < options_.ranks.size(); ++i) threads.emplace_back([this, i] { guard(i); });
    }
    for (const std::exception_ptr& failure : failures_)
      if (failure) std::rethrow_exception(failure);
    return *std::ranges::max_element(probed_, {}, &ProbedEpoch::epoch_seconds);
  }

 private:
  struct Next {
    Probe* probe;
    void operator()() noexcept { probe->begin_epoch(); }
  };
  /// All ranks stand between two epochs.
  void begin_epoch() {
    if (epoch_++ == 0) began_ = seconds_now();
    if (epoch_ > kMost || (epoch_ > kFewest && seconds_now() - began_ > kLong)) over_ = true;
  }

  void guard(std::size_t i) {
    try {
      run_rank(i);
    } catch (...) {
      failures_[i] = std::current_exception();
      step_.arrive_and_drop();
    }
  }

  /// All begin each epoch together, and so share the machine as they would.
  void run_rank(std::size_t i) {
    ThreadPool pool(options_.threads);
    Workspace workspace;
    Context ctx{Device::kCpu, &pool, &workspace};
    const Rank rank = options_.ranks[i];
    RankData data(job_, dataset_, prepared_, rank, PartRanks(options_.traffic.parts));
    const auto sharing = std::ranges::count(hosts_, hosts_[std::size_t(rank)]);
    Communicator comm(make_emulated_transport(rank, hosts_,
                                              {options_.server_link / double(sharing), options_.memory_link,
                                               busiest_[std::size_t(rank)], options_.link_work}));
    data.count(comm);
    Trainer trainer(ctx, comm, job_, data);
    std::vector<double> epochs, exposed;
    for (step_.arrive_and_wait(); !over_; step_.arrive_and_wait()) {
      const double begin = seconds_now(), waited = exposed_seconds(comm.ledger());
      trainer.train_epoch(epoch_, 0);
      epochs.push_back(seconds_now() - begin);
      exposed.push_back(exposed_seconds(comm.ledger()) - waited);
    }
    const double begin = seconds_now();
    trainer.evaluate();
    probed_[i] = {last(epochs), seconds_now() - begin, last(exposed)};
  }

  static double last(const std::vector<double>& all) { return median({all.end() - kJudged, all.end()}); }

  static double exposed_seconds(const Ledger& ledger) {
    double seconds = 0;
    for (int p = 0; p < kTraffics; ++p) seconds += ledger.exposed_seconds(Traffic(p));
    return seconds;
  }

  const Job job_;
  const Dataset& dataset_;
  const PreparedGraph& prepared_;
  const ProbeOptions& options_;
  const std::vector<std::string> hosts_;
  const std::vector<Busiest> busiest_;  // by rank
  std::barrier<Next> step_;
  int epoch_ = 0;  // under way, of all ranks
  double began_ = 0;
  bool over_ = false;
  std::vector<ProbedEpoch> probed_;
  std::vector<std::exception_ptr> failures_;
};

}  // namespace

ProbedEpoch probe_epoch(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                        const ProbeOptions& options) {
  return Probe(job, dataset, prepared, options).run();
}

}  // namespace atl
