// The strategies by name: options, layout, byte formula. Pure: no MPI, no CUDA, so
// that the operator links it. A strategy's row is in strategies/<kind>/info.cc, its schedule beside that. A
// new strategy is a folder there, one line in strategies.cc here and one in strategies/strategies.cc.
#pragma once

#include <string>
#include <vector>

#include "base/function_ref.h"
#include "job/field.h"
#include "job/layout.h"
#include "job/option_field.h"
#include "job/rule.h"

namespace atl {

/// A limit of what a rank may hold, and which jobs a job with such a limit may become.
struct MemoryBudget {
  std::string path;        // of the field
  std::int64_t bytes = 0;  // that a rank's planned peak must not pass; 0: no limit
  struct Way {
    Job job;
    std::string fields;  // that are as they are in it: "training.recompute: layer"
  };
  std::vector<Way> ways{};  // the one that costs least first
};

/// What a job's graph and features are divided into.
struct JobDivision {
  int parts = 0;    // of the graph, where several ranks share one; 0: one for each rank
  int servers = 1;  // over which the graph is divided first, with equally many ranks each
  int slices = 0;   // of each part; 0: it is not cut
  int pieces = 0;   // of the features' columns, each held by some ranks alone; 0: a row is held whole
  const char *slices_field = "", *pieces_field = "";  // the manifest's fields that say so
};

/// What is known when a strategy advises.
struct RunFacts {
  std::int64_t columns = 0;  // of the features
  std::int64_t steps = 0;    // of the whole run
  bool learns = true;        // false: its loss doesn't fall, and what may help is asked
};

struct StrategyInfo {
  std::string kind;
  std::string description;
  std::string source;                      // the paper
  std::vector<Field> options{};            // paths "strategy.<kind>.<name>"
  std::vector<OwnDefault> defaults{};      // of fields that every strategy has
  std::vector<std::string> also_called{};  // by other tools, in lower case
  Layout (*layout)(const Job&) = nullptr;
  /// Null: the graph is divided into a part for each rank, and nothing else.
  JobDivision (*divide)(const Job&) = nullptr;
  /// How many of the `boundary` rows that one part has for another travel in an epoch; null: all.
  /// TrafficShape and CutRows count these.
  Index (*crossing_rows)(const Options&, Index boundary) = nullptr;
  EpochTraffic (*traffic)(const Options&, const TrafficShape&) = nullptr;
  /// The same bytes by pair of ranks; a pair may occur more than once.
  std::vector<PairBytes> (*flows)(const Options&, const TrafficShape&, const std::vector<CutRows>&) = nullptr;
  /// Whether bytes travel while a rank computes; null: they do.
  bool (*hides)(const Options&) = nullptr;
  /// By what factor an epoch takes longer than the slowest rank's work, because ranks wait until others have
  /// begun; null: 1.
  double (*stretch)(const Job&) = nullptr;
  bool several_steps = false;  // an epoch has more than one
  bool several_parts = false;  // a rank may have more than one
  /// Whether a job draws some of a vertex's neighbours, so that they must lie in the order of ids
  /// (GraphTransforms::by_id); null: it doesn't.
  bool (*draws_neighbours)(const Job&) = nullptr;
  /// How many threads of a rank work beside those that train, on the same processors; null: none.
  int (*side_threads)(const Job&, int threads) = nullptr;
  /// What a job's limit is, and what it leaves open of that which was given; null: there are no such limits.
  MemoryBudget (*memory_budget)(const Job&, const Given&) = nullptr;
  bool stands_for_another = false;  // which is chosen before anything is started
  /// Whether a job's gradients are those of the whole graph on one rank; null: they aren't.
  bool (*exact)(const Job&) = nullptr;
  /// Options that are worth comparing beside its defaults, each as strategies are listed
  /// ("maxHop=0:fanout=-1"); null: none.
  std::vector<std::string> (*variants)(const Job&) = nullptr;
  /// What to tell of a run that begins, or what may help one that doesn't learn, the likeliest first; null:
  /// nothing.
  std::vector<std::string> (*advice)(const Job&, const RunFacts&) = nullptr;
  bool sends_less = false;  // epochs differ, and `traffic` is the most that one sends
  std::string kept_rows =
      "rows of earlier epochs";  // what ranks know beside parameters, in a checkpoint's words
  std::string no_pairs{};     // why it doesn't train on pairs of vertices (task linkPrediction); "": it does
  std::vector<Rule> rules{};  // what it refuses, and why

  JobDivision division(const Job& job) const { return divide == nullptr ? JobDivision{} : divide(job); }
  std::vector<std::string> advise(const Job& job, const RunFacts& facts) const {
    return advice == nullptr ? std::vector<std::string>{} : advice(job, facts);
  }
  bool hides_communication(const Options& given) const { return hides == nullptr || hides(given); }
};

const std::vector<StrategyInfo>& strategy_infos();
/// Adds a strategy of the calling program to the table. Call before the first job is read; not thread-safe.
void add_strategy(StrategyInfo info);

/// Null where no strategy is named so.
const StrategyInfo* find_strategy(const std::string& kind);

/// Whether its options are in a block of their own, strategy.<kind>; otherwise they are beside strategy.kind.
bool has_block(const StrategyInfo& strategy);

/// The strategy whose option `path` is, or null.
const StrategyInfo* strategy_with_option(const std::string& path);

/// The complaint about an option beside strategy.kind that only `owner` has.
std::string option_of_strategy(const StrategyInfo& owner);
/// The complaint about a block of a strategy other than the chosen one.
std::string block_of_another(const std::string& chosen);

// One function a folder, in its info.cc.
StrategyInfo graph_strategy();
StrategyInfo pipegcn_strategy();
StrategyInfo bns_strategy();
StrategyInfo cagnet_strategy();
StrategyInfo sancus_strategy();
StrategyInfo minibatch_strategy();
StrategyInfo gnnpipe_strategy();
StrategyInfo granndis_strategy();
StrategyInfo p3_strategy();
StrategyInfo dgs_strategy();
StrategyInfo auto_strategy();

}  // namespace atl
