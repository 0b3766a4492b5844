// The table of strategies: options, layout, byte formula. There is no MPI and no CUDA here, so that the
// operator can link it. A strategy's row is in strategies/<kind>/info.cc, with its schedule beside it. A new
// strategy is a folder there, one line in strategies.cc here and one in strategies/strategies.cc.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "job/field.h"
#include "job/layout.h"
#include "job/rule.h"

namespace atl {

/// A limit on what a rank may hold, and the changed jobs by which a strategy can keep it.
struct MemoryBudget {
  std::string path;        // path of the limit's field
  std::int64_t bytes = 0;  // the most that a rank's planned peak may be; 0: no limit
  struct Way {
    Job job;
    std::string fields;  // the fields that it sets: "training.recompute: layer"
  };
  std::vector<Way> ways{};  // the cheapest first
};

/// How a job's graph and features are divided.
struct JobDivision {
  int parts = 0;    // parts of the graph, where several ranks share a part; 0: one per rank
  int servers = 1;  // servers that the graph is divided among first; each has the same number of ranks
  int slices = 0;   // slices of each part; 0: parts aren't sliced
  int pieces = 0;   // pieces of the features' columns, each held by some ranks; 0: ranks hold whole rows
  const char *slices_field = "", *pieces_field = "";  // the manifest's fields for slices and pieces
};

/// What is known when a strategy gives advice.
struct RunFacts {
  std::int64_t columns = 0;  // feature columns
  std::int64_t steps = 0;    // steps of the whole run
  bool learns = true;        // false: the loss doesn't fall, and the advice is about what may help
};

struct StrategyInfo {
  std::string kind;
  std::string description;
  std::string source;                      // the paper
  std::vector<Field> options{};            // paths "strategy.<kind>.<name>"
  std::vector<OwnDefault> defaults{};      // its own defaults of common fields
  std::vector<std::string> also_called{};  // other tools' names for it, in lower case
  Layout (*layout)(const Job&) = nullptr;
  /// Null: the graph is divided into one part per rank, and nothing else.
  JobDivision (*divide)(const Job&) = nullptr;
  /// Of the `boundary` rows that one part has for another, the number that travels in an epoch; null: all.
  /// TrafficShape and CutRows count only these.
  Index (*boundary_rows_sent)(const Options&, Index boundary) = nullptr;
  /// The bytes of an epoch. Null: the strategy has no epochs, because another strategy is chosen for it
  /// before anything starts.
  EpochTraffic (*traffic)(const Options&, const TrafficShape&) = nullptr;
  /// The bytes of `traffic` by pair of ranks; a pair may occur more than once.
  std::vector<PairBytes> (*flows)(const Options&, const TrafficShape&, const std::vector<CutRows>&) = nullptr;
  PlannedBytes (*planned_bytes)(const Job&) = nullptr;  // null: kOfEach
  /// Whether the strategy overlaps bytes with a rank's computing; null: always.
  bool (*hides)(const Options&) = nullptr;
  bool several_steps = false;  // an epoch has several steps
  bool several_parts = false;  // a rank may have several parts
  /// Whether a job draws only some of a vertex's neighbours. These must then be in the order of ids
  /// (GraphTransforms::by_id). Null: no.
  bool (*draws_neighbours)(const Job&) = nullptr;
  /// How many threads of a rank work beside those that train, on the same cores; null: none.
  int (*side_threads)(const Job&, int threads) = nullptr;
  /// The job's memory limit, and ways to stay below it by changing only fields that weren't given; null: no
  /// such limit.
  MemoryBudget (*memory_budget)(const Job&, const Given&) = nullptr;
  /// Whether a job's gradients equal those of the whole graph on one rank; null: no.
  bool (*exact)(const Job&) = nullptr;
  /// Options worth comparing with the defaults, each written as in a list of strategies
  /// ("maxHop=0:fanout=-1"); null: none.
  std::vector<std::string> (*variants)(const Job&) = nullptr;
  /// Advice for a run that begins or, with the likeliest remedy first, for a run that doesn't learn. Null:
  /// none.
  std::vector<std::string> (*advice)(const Job&, const RunFacts&) = nullptr;
  // The name in checkpoints of the rows that ranks keep beside parameters.
  std::string kept_rows = "rows of earlier epochs";
  std::string no_pairs{};     // why it can't train on pairs of vertices (task linkPrediction); "": it can
  std::vector<Rule> rules{};  // which jobs the strategy refuses, and why

  bool stands_for_another() const { return traffic == nullptr; }
  JobDivision division(const Job& job) const { return divide == nullptr ? JobDivision{} : divide(job); }
  std::vector<std::string> advise(const Job& job, const RunFacts& facts) const {
    return advice == nullptr ? std::vector<std::string>{} : advice(job, facts);
  }
  bool hides_communication(const Options& given) const { return hides == nullptr || hides(given); }
};

/// The rows never move, because jobs point to theirs (StrategySpec::row).
const std::deque<StrategyInfo>& strategy_infos();
/// Adds a strategy of the calling program to the table. Call it before the first job is read; not
/// thread-safe.
void add_strategy(StrategyInfo info);

/// Null where no strategy has this name.
const StrategyInfo* find_strategy(const std::string& kind);

/// Whether the strategy's options are in a block of their own, strategy.<kind>; if not, they are beside
/// strategy.kind.
bool has_block(const StrategyInfo& strategy);

/// The strategy that has the option at `path`, or null.
const StrategyInfo* strategy_with_option(const std::string& path);

/// Whether the training of a job depends on which ranks share a server. It does if some ranks must share one,
/// if servers hold different things, or if the division of graph and features follows the servers. Then
/// another placement.ranksPerServer is another way to train; otherwise it only changes where the same bytes
/// go.
bool has_own_servers(const Job& job);

/// The complaint about an option beside strategy.kind that only `owner` has.
std::string option_of_strategy(const StrategyInfo& owner);
/// The complaint about a block of a strategy other than the chosen one.
std::string block_of_another(const std::string& chosen);

// One function per folder, in its info.cc.
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
