// The runs of `atoll bench strategies`. Each listed strategy is a manifest that is checked and planned once,
// and then run like `atoll run`, in a process of its own, as often as asked.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/strategy_bench.h"
#include "command/command_line.h"
#include "job/job.h"

namespace atl {

// Reads --strategies of `atoll bench strategies`: kinds, each followed by its options, as changes of a
// manifest.

struct ListedStrategy {
  std::string label;   // as given: "pipegcn:smoothing=both:decay=0.9"
  std::string kind;    // "pipegcn"
  std::string change;  // of the manifest: "strategy={kind: pipegcn, pipegcn: {smoothing: both, decay: 0.9}}"
};

/// Reads "graph:overlap=false,pipegcn". An option that isn't one of the kind's is taken for one of all
/// strategies ("wire=bfloat16"). Throws Error where an entry is empty or an option has no value; the
/// manifest's parser checks kinds and options.
std::vector<ListedStrategy> read_strategy_list(const std::string& text);

/// Thrown when a run was asked to stop.
struct BenchInterrupted {};

/// One strategy of the list, ready to run.
struct BenchCell {
  ListedStrategy listed;
  Job job;
  std::vector<std::string> changes;  // all changes of the manifest
  std::string said;                  // words about changes that weren't asked for; "": there are none
};

/// The manifest of --file under a strategy. Evaluations and checkpoints become rarer if most epochs would
/// follow one. Messages that go on meanwhile would be hidden, and such epochs aren't timed.
BenchCell bench_cell(const Arguments& arguments, const ListedStrategy& listed);

/// Changes of the manifest for a run that only shows how long its epochs take.
std::vector<std::string> few_epochs(const Job& job);

/// The plan of the runs, as `atoll plan` makes it. Prepares the data set and the graph, so that every run
/// finds them.
StrategyRuns planned_runs(const Arguments& arguments, const BenchCell& cell);

/// Runs the cell, with `changes` after its own, and writes to `output`, replacing what is there. Throws Error
/// if the run fails, and BenchInterrupted if it was asked to stop.
RunRecord run_cell(const Arguments& arguments, const BenchCell& cell, const std::filesystem::path& output,
                   const std::vector<std::string>& changes = {});

// atoll bench strategies: runs the same work under several strategies in turn, on this machine or on the
// links of a rig. The environment describes the links: ATOLL_RIG says what they are, and ATOLL_RIG_LINK is
// the program that changes their rate. Without these, the benchmark runs on this machine as it is.

// The links that a benchmark runs on, as their maker says in the environment: ATOLL_RIG describes them,
// ATOLL_RIG_LINK is the program that changes their rate. Without these, the benchmark runs on this machine as
// it is.

class Rig {
 public:
  /// Throws Error where ATOLL_RIG isn't a JSON object.
  static Rig from_environment();

  /// ATOLL_RIG as given: {"servers":2,…}; "" without it.
  const std::string& description() const { return description_; }
  /// The present rate of a link in tc's form ("850mbit"); "": unknown.
  const std::string& link() const { return link_; }
  bool can_shape() const { return !program_.empty(); }
  /// Sets the rate of all links, bits per second. Throws Error where the program fails.
  void set_rate(double bits);

 private:
  std::string description_, link_, program_;
};

/// Reads a rate as tc does: "850mbit" in bits per second. Throws Error where it isn't a rate.
double link_bits(const std::string& rate);
/// The rate in tc's form, to four digits.
std::string link_rate(double bits);

}  // namespace atl
