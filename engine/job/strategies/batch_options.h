// What strategies that train on mini-batches of drawn neighbours have in common: options, rules, and how gaps
// in the options are filled.
#pragma once

#include <string>
#include <vector>

#include "job/field.h"
#include "job/job.h"
#include "job/layout.h"
#include "job/rule.h"

namespace atl {

/// Options for the vertices that a step trains on, and for the neighbours that it reads: fanout, replace,
/// batchSize.
std::vector<Field> neighbour_options(const std::string& kind);
/// The same with `sampler`, for strategies without another way to draw.
std::vector<Field> drawing_options(const std::string& kind);
/// Options for making batches ahead of time: prefetch, threads, structure.
std::vector<Field> making_options(const std::string& kind);

/// The number of neighbours that each gathering layer draws, for the layer nearest to the input first; −1:
/// all neighbours, or those that the sampler draws for the step.
std::vector<int> batch_fanout(const Job& job);
/// The same in words, from a batch's seeds outwards: "seed → 5 → 10 → 15".
std::string hops_text(const Job& job);
/// How many of a rank's threads make batches; the others train.
int batch_threads(const Job& job, int threads);
/// Whether some layer reads only some of a vertex's neighbours.
bool draws_some_neighbours(const Job& job);

/// The job's fanout must have a number for each gathering layer, none of them 0.
void check_batch_fanout(const Check& check);
/// The part of check_batch_fanout() that CEL can express; it doesn't know how many layers gather.
ServerRule batch_fanout_rule(const std::string& kind);

/// The traffic of one step, without what batches fetch or push, which is known only once they are drawn.
EpochTraffic batch_traffic(const Options& options, const TrafficShape& shape);
std::vector<PairBytes> batch_flows(const Options& options, const TrafficShape& shape,
                                   const std::vector<CutRows>& cut);
/// The plan's bytes are those of the first epoch's batches, because each epoch draws its own.
PlannedBytes bytes_of_first_batches(const Job& job);

/// The layout of strategies whose batches read from any rank: no arrangement of parts keeps more bytes on a
/// server.
Layout own_parts(const Job& job);

// Options of strategies that fetch other ranks' features row by row: how many of the columns are fetched, and
// what replaces the others.

/// The fields featureRate, fill and gpuFeatures. `initial` is featureRate's default; 0 stands for the paper's
/// 0.85, or for 1 where there are few columns.
std::vector<Field> feature_options(const std::string& kind, double initial);

/// The share of `columns` feature columns that is fetched; 1 where the job's strategy has no such option.
double feature_rate(const Job& job, std::int64_t columns);

/// Warns about feature options of the job that have no effect.
void check_feature_options(const Check& check);

}  // namespace atl
