// atoll bench strategies: runs the same work under several strategies in turn, on this machine or on the
// links of a rig.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "bench/strategy_bench.h"
#include "command/bench/cells.h"
#include "command/commands.h"
#include "command/job_data.h"
#include "command/run/output_folder.h"
#include "job/yaml.h"
#include "launch/launch.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr double kFirstRate = 1e9;     // bits per second, where the rig doesn't tell its rate
constexpr double kCloseEnough = 0.01;  // difference from the requested share
constexpr int kMostMeasurements = 5;   // to come that close to the share

double asked_share(const Arguments& a, const Rig& rig) {
  if (!a.has("--comm-share")) return 0;
  const double share = a.number("--comm-share", 0);
  if (!(share > 0 && share < 1))
    fail("--comm-share: '{}' is not allowed (use a share between 0 and 1)", a.get("--comm-share"));
  if (!rig.can_shape())
    fail(
        "--comm-share: needs links that can be slowed down: run it on a rig, as in "
        "`tests/rig/run --servers 2 --link 1gbit -- atoll bench strategies …`");
  return share;
}

fs::path output_of(const Arguments& a, const Job& job) {
  return a.has("--output") ? fs::path(a.get("--output"))
                           : fs::path("runs") / (job.output.path + "-strategies");
}

/// Runs a few epochs of the synchronous baseline on the present links. Measures how long its slowest rank
/// computes, and how long that rank waits.
SharedEpoch measure_share(const Arguments& a, const BenchCell& baseline, const fs::path& output,
                          double rate) {
  const RunRecord run = run_cell(a, baseline, output, few_epochs(baseline.job));
  SharedEpoch measured{rate, 0, 0};
  for (const TypicalEpoch& rank : run.typical_by_rank)
    if (rank.compute_seconds > measured.compute)
      measured = {rate, rank.compute_seconds, rank.exposed_seconds};
  say(fmt::format("links of {}: communication is {:.1f} % of an epoch of {}", link_rate(rate),
                  100 * measured.share(), baseline.listed.label));
  return measured;
}

/// The synchronous baseline that papers compare with.
constexpr const char* kPapersBaseline = "graph:overlap=false:haloRows=inputs";

/// Shapes the links until communication takes `share` of the baseline's epoch; returns the share reached.
double shape_links(const Arguments& a, Rig& rig, double share, const fs::path& output) {
  const BenchCell baseline = bench_cell(a, read_strategy_list(kPapersBaseline).front());
  planned_runs(a, baseline);
  std::vector<SharedEpoch> measured;
  double rate = rig.link().empty() ? kFirstRate : link_bits(rig.link());
  for (int i = 0; i < kMostMeasurements; ++i) {
    rig.set_rate(rate);
    measured.push_back(measure_share(a, baseline, output / "share", link_bits(rig.link())));
    if (i > 0 && std::abs(measured.back().share() - share) <= kCloseEnough) break;
    rate = rate_for_share(share, measured);
  }
  const auto off = [&](const SharedEpoch& m) { return std::abs(m.share() - share); };
  const SharedEpoch nearest = *std::min_element(
      measured.begin(), measured.end(), [&](const auto& x, const auto& y) { return off(x) < off(y); });
  rig.set_rate(nearest.rate);
  return nearest.share();
}

/// Runs the strategies in turn, so that a change of the machine affects all of them: A B … A, A B … A.
void run_rounds(const Arguments& a, const std::vector<BenchCell>& cells, std::vector<StrategyRuns>& runs,
                const fs::path& output, long rounds) {
  for (long round = 1; round <= rounds; ++round) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string name = fmt::format("{}-{}", i + 1, cells[i].listed.kind);
      runs[i].rounds.push_back(run_cell(a, cells[i], output / fmt::format("round-{}", round) / name));
      say(fmt::format("round {} of {}, {} of {}: {}", round, rounds, i + 1, cells.size(),
                      cells[i].listed.label));
    }
  }
}

/// Refuses --set of the strategy. --strategies replaces the manifest's strategy, so the change would be lost
/// silently.
void refuse_changes_of_strategy(const Arguments& a) {
  for (const std::string& change : a.all("--set"))
    if (change.starts_with("strategy.") || change.starts_with("strategy="))
      fail(
          "--set {}: is not allowed (use --strategies, where options follow the kind, as in pipegcn:wire=bfloat16)",
          change);
}

int bench(const Arguments& a) {
  refuse_changes_of_strategy(a);
  const long rounds = a.integer("--rounds", 3, 1, 100);
  a.integer("--timeout", 300, 1, kLongestTimeout);  // checked here, used by the runs
  Rig rig = Rig::from_environment();
  const double share = asked_share(a, rig);
  std::vector<BenchCell> cells;
  for (const ListedStrategy& listed : read_strategy_list(a.get("--strategies")))
    cells.push_back(bench_cell(a, listed));
  if (!cells.front().said.empty()) say(cells.front().said);
  std::vector<StrategyRuns> runs;
  for (const BenchCell& cell : cells) runs.push_back(planned_runs(a, cell));
  cells.push_back(cells.front());  // the first strategy again, to compare it with itself
  runs.push_back(runs.front());
  const fs::path output = output_of(a, cells.front().job);
  const OutputLock lock(output, say);
  StrategyBench result;
  result.share_asked = share;
  if (share > 0) result.share_reached = shape_links(a, rig, share, output);
  result.link = rig.link();
  result.rig = rig.description();
  run_rounds(a, cells, runs, output, rounds);
  result.rows = compare_strategies(runs);
  std::fputs((a.has("--json") ? to_json(result) : to_text(result)).c_str(), stdout);
  return 0;
}

int run_bench_strategies(const Arguments& a) {
  try {
    return bench(a);
  } catch (const BenchInterrupted&) {
    say("stopped");
    return kStatusInterrupted;
  }
}

}  // namespace

Command bench_strategies_command() {
  return {
      "bench strategies",
      "run a manifest under several strategies in turn and compare time, bytes and accuracy",
      {{"-f,--file", "FILE", "the manifest (gnnjob.yaml); its strategy is replaced", true},
       {"--strategies", "KIND,...", "strategies to compare, with options: graph:overlap=false,pipegcn", true},
       {"--rounds", "N", "number of runs of each strategy (3)"},
       {"--comm-share", "X",
        "slow the rig's links until this share of graph:overlap=false:haloRows=inputs is communication"},
       {"--ranks", "N", "number of ranks, instead of placement.ranks"},
       {"--threads", "N", "threads per rank (resources.cpu, or the machine's cores divided among its ranks)"},
       {"--data-root", "DIR", "folder that holds the data sets (ATOLL_DATA_ROOT, or ./datasets)"},
       prepared_argument(),
       {"--output", "DIR", "folder for the runs' results (./runs/OUTPUT.PATH-strategies)"},
       {"--set", "FIELD=VALUE", "override a field of the manifest; may be repeated", false, true},
       {"--timeout", "SECONDS", "how long to wait for a rank that doesn't answer (300)"},
       {"--json", "", "print one JSON object"}},
      run_bench_strategies};
}

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

struct Unit {
  const char* name;
  double bits;
};
constexpr Unit kUnits[] = {{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}};  // coarsest first

}  // namespace

double link_bits(const std::string& rate) {
  double number = 0;
  const auto [unit, error] = std::from_chars(rate.data(), rate.data() + rate.size(), number);
  for (const Unit& known : kUnits)
    if (error == std::errc() && number > 0 && known.name == std::string(unit)) return number * known.bits;
  fail("'{}' is not a rate (use 850mbit, 1gbit, …)", rate);
}

std::string link_rate(double bits) {
  const double digit = std::pow(10, std::floor(std::log10(bits)) - 3);
  const auto rounded = std::int64_t(std::llround(std::max(1.0, std::round(bits / digit) * digit)));
  for (const Unit& unit : kUnits)
    if (rounded % std::int64_t(unit.bits) == 0)
      return fmt::format("{}{}", rounded / std::int64_t(unit.bits), unit.name);
  return fmt::format("{}bit", rounded);
}

Rig Rig::from_environment() {
  Rig rig;
  rig.description_ = variable("ATOLL_RIG");
  rig.program_ = variable("ATOLL_RIG_LINK");
  if (rig.description_.empty()) return rig;
  const Node json = parse_yaml_value(rig.description_, "ATOLL_RIG");  // JSON is YAML
  if (json.kind != Node::Kind::kMap)
    fail("ATOLL_RIG: '{}' is not a JSON object; it is set by tests/rig/run", rig.description_);
  if (const Node* link = json.find("link")) rig.link_ = link->written;
  return rig;
}

void Rig::set_rate(double bits) {
  const std::string rate = link_rate(bits);
  LaunchPlan plan;
  plan.program = {program_, rate};
  plan.message = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  const LaunchEnd end = launch(plan);
  if (end.status != 0) fail("ATOLL_RIG_LINK: {} {} ended with status {}", program_, rate, end.status);
  link_ = rate;
}

}  // namespace atl
