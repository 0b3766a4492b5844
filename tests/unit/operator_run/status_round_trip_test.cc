// A written status is bounded and rounded, and later decisions start from what is read back. A decision must
// not differ from that in memory alone, or the same status would be written for ever. Random statuses, in
// worlds where nothing changes: 20,000, or as many as STATUSES says; every night 200,000.
#include <cstdlib>
#include <map>
#include <random>

#include "operator/objects/names.h"
#include "operator/run/progress.h"
#include "operator/run/rank_pages.h"
#include "operator_api/status_schema.h"
#include "operator_controller/fake_kueue.h"
#include "operator_controller/one_decision.h"

namespace atl::ctl {
namespace {

/// Statuses that anybody might have written, plans and pages that anybody might give.
class Draws {
 public:
  explicit Draws(unsigned seed) : random_(seed) {}

  bool one_of(int n) { return random_() % unsigned(n) == 0; }
  std::int64_t number() {
    const std::int64_t all[] = {0, 1, 7, -1, 1500, 1LL << 40, (1LL << 53) + 1};
    return all[random_() % std::size(all)];
  }
  double real() {
    const double all[] = {0,    1,      1.5,   0.1,  -3.25,         1e-300,
                          1e18, 9.3e18, 1e300, 1024, 1536.0 * 1024, 12345678.9};
    return all[random_() % std::size(all)] * (one_of(4) ? double(random_()) / 7 : 1);
  }
  std::string text() {
    static const std::vector<std::string> kPieces = {
        "n1", "needs 8 servers", "…", "\xc3\xa9", "\"", "\\", "\n", " ", "; "};
    std::string all;
    const auto size = one_of(40) ? 900 + random_() % 900 : random_() % 6;
    for (std::size_t i = 0; i < size; ++i) all += kPieces[random_() % kPieces.size()];
    if (one_of(20)) all += "\xff is no UTF-8";
    return all;
  }
  template <class Value>
  std::optional<Value> perhaps(Value value) {
    return one_of(2) ? std::nullopt : std::optional(std::move(value));
  }
  Moment moment(Moment now) { return now - Seconds(random_() % 2000); }
  Condition condition(const char* type, Moment now) {
    const char* reasons[] = {"Made",      "Preparing", "NoRoom",   "Refused",  "Withdrawn",
                             "NotBound",  "Planned",   "Starting", "Training", "Replacing",
                             "Suspended", "Queued",    "Lost",     "Unheard"};
    return {type,   one_of(2),   reasons[random_() % std::size(reasons)],
            text(), moment(now), std::int64_t(random_() % 5)};
  }
  Status status(Moment now) {
    Status drawn;
    drawn.observed_generation = std::int64_t(random_() % 5);
    for (const char* type : {kCreated, kPlaced, kRunning, kSuspended, kRestarting, kNodesRequested})
      if (!one_of(3)) drawn.conditions.push_back(condition(type, now));
    drawn.attempt = int(random_() % 3);
    drawn.failures = int(random_() % 3);
    drawn.disruptions = int(random_() % 3);
    drawn.withdrawals = int(random_() % 4);
    drawn.keys = one_of(2) ? "cora-keys-1" : "";
    for (auto servers = random_() % 4; servers > 0; --servers)
      drawn.servers.push_back({"n" + std::to_string(random_() % 5), {Rank(random_() % 4)}, ""});
    drawn.predicted = {perhaps(real()), perhaps(real()), text()};
    drawn.progress = progress();
    drawn.progress.advanced = perhaps(moment(now));
    for (auto restarts = one_of(2) ? random_() % 12 : 0; restarts > 0; --restarts)
      drawn.add_restart(
          {moment(now), {perhaps(number()), "SIGKILL", "cora-0-0", "n1"}, "Exit", perhaps(number())});
    drawn.made_of = {one_of(2) ? "0123456789" : "", one_of(2) ? "abcdef0123" : "",
                     one_of(2) ? "atoll/engine:0" : ""};
    if (one_of(2)) drawn.findings = one_of(2) ? R"({"ranks":4,"flows":[[0,2,100]]})" : text();
    drawn.pod_size = {one_of(4) ? 2 : 0, one_of(2) ? text() : ""};
    drawn.result = {perhaps(real()), perhaps(number())};
    drawn.start = perhaps(moment(now));
    return drawn;
  }
  /// As a pod tells it.
  Progress progress() {
    nlohmann::json page = {{"epoch", random_() % 50}, {"epochs", 50 + random_() % 50}, {"loss", real()}};
    page["lastCheckpointEpoch"] = number();
    page["etaSeconds"] = real();
    page["epochSeconds"] = real();
    page["bytes"] = {{"intra", real()}, {"inter", real()}};
    return read_progress(page.dump()).value_or(Progress{});
  }
  GangPlan plan(const Gang& gang) {
    GangPlan drawn;
    drawn.fits = one_of(2);
    for (auto reasons = random_() % 3; reasons > 0; --reasons) drawn.reasons.push_back(text());
    if (!drawn.fits) return drawn;
    for (std::size_t s = 0; s < gang.servers.size(); ++s)
      drawn.nodes.push_back("n" + std::to_string(1 + random_() % 4));
    drawn.launcher = drawn.nodes.empty() ? "n1" : drawn.nodes.front();  // none: all servers stand
    drawn.level_bytes.assign(gang.levels.size(), real());
    drawn.cost = real();
    drawn.best_possible = real();
    return drawn;
  }

 private:
  std::minstd_rand random_;
};

/// What the operator would read again.
Status read_back(const Status& status) {
  return read_status(parse_json(write_status(status)));
}

class StatusRoundTrip : public Decide {
 protected:
  /// The world stands still but for what is written into the status: that must come to rest, and no write be
  /// the server's own.
  void come_to_rest(Observed& seen, unsigned seed) {
    constexpr int kMostWrites = 8;
    for (int writes = 0;; ++writes) {
      const Decision decision = decide(seen, world.atoll.settings);
      if (!decision.status) return;
      ASSERT_LT(writes, kMostWrites) << "seed " << seed << ":\n" << write_status(*decision.status);
      const std::string before = write_status(seen.job.status), after = write_status(*decision.status);
      ASSERT_TRUE(is_allowed_status(after)) << "seed " << seed;
      // A blank one has an attempt that goes without saying.
      ASSERT_NE(before, after) << "seed " << seed << " writes what is there";
      seen.job.status = read_back(*decision.status);
      ASSERT_EQ(write_status(seen.job.status), after) << "seed " << seed << " reads what it hasn't written";
    }
  }
  void try_statuses(Observed seen, unsigned first, unsigned count) {
    world.atoll.view.of.new_keys = [] {
      return LoginKeys{{"login", "ssh-ed25519 L"}, {"host", "ssh-ed25519 H"}, "1"};
    };
    seen.secret = SecretAnswer{false};
    seen.pod_fault = "";
    for (unsigned seed = first; seed < first + count && !HasFatalFailure(); ++seed) {
      Draws draws(seed + 1);
      seen.job.status = read_back(draws.status(seen.now));
      for (ObjectView& object : seen.objects)
        if (object.workload)
          for (Condition& condition : object.workload->conditions) condition.message = draws.text();
      seen.heard.reset();
      if (draws.one_of(2))
        seen.heard = ProgressReport{draws.progress(), draws.moment(seen.now), draws.moment(seen.now), {}};
      std::map<std::size_t, GangPlan> plans;  // of the whole gang, of what it lacks
      world.atoll.view.of.plan = [&](const Gang& gang) {
        const auto size = gang.servers.size();
        if (!plans.contains(size)) plans.emplace(size, draws.plan(gang));
        return plans.at(size);
      };
      come_to_rest(seen, seed);
    }
  }
};

constexpr unsigned kWorlds = 5;

unsigned statuses_of_a_world() {
  const char* wanted = std::getenv("STATUSES");
  return (wanted ? unsigned(std::atoi(wanted)) : 20'000) / kWorlds;
}

TEST_F(StatusRoundTrip, OfAJobThatIsNew) {
  submit();
  try_statuses(world.atoll.observe("cora"), 0, statuses_of_a_world());
}

TEST_F(StatusRoundTrip, OfAJobThatIsPrepared) {
  submit();
  world.atoll.run(3);
  try_statuses(world.atoll.observe("cora"), 100'000'000, statuses_of_a_world());
}

TEST_F(StatusRoundTrip, OfAJobThatWaits) {
  submit({{"/spec/placement/ranks", 16}});
  world.atoll.run(60);
  try_statuses(world.atoll.observe("cora"), 200'000'000, statuses_of_a_world());
}

/// Kueue's words on it are long, and may have any characters.
TEST_F(StatusRoundTrip, OfAJobThatQueues) {
  FakeKueue kueue{world.cluster};
  kueue.cores = 0;
  world.atoll.settings.kueue = true;
  json job = sample_job_json({});
  job["metadata"]["labels"][kQueueLabel] = "team-queue";
  world.atoll.submit(job);
  world.atoll.run(5);
  ASSERT_FALSE(kueue.read().conditions.empty());
  try_statuses(world.atoll.observe("cora"), 400'000'000, statuses_of_a_world());
}

TEST_F(StatusRoundTrip, OfAJobThatTrains) {
  train();
  try_statuses(world.atoll.observe("cora"), 300'000'000, statuses_of_a_world());
}

}  // namespace
}  // namespace atl::ctl
