// What strategies have in common that train on mini-batches of drawn neighbours: options, rules, and what the
// options leave open.
#pragma once

#include <string>
#include <vector>

#include "job/field.h"
#include "job/job.h"
#include "job/layout.h"
#include "job/rule.h"

namespace atl {

/// Which vertices a step trains on, and which of their neighbours it reads: fanout, replace, batchSize.
std::vector<Field> neighbour_options(const std::string& kind);
/// The same with `sampler`, of strategies that have no other one.
std::vector<Field> drawing_options(const std::string& kind);
/// How batches are made ahead of time: prefetch, threads, structure.
std::vector<Field> making_options(const std::string& kind);

/// By gathering layer, the one nearest to the input first; −1: all neighbours, or those that the sampler
/// draws for the step.
std::vector<int> batch_fanout(const Job& job);
/// The same as a batch grows, from the vertices that it trains on: "seed → 5 → 10 → 15".
std::string hops_text(const Job& job);
/// Of a rank's threads, how many make batches; the others train.
int batch_threads(const Job& job, int threads);
/// Whether some layer reads some of a vertex's neighbours.
bool draws_some_neighbours(const Job& job);

/// strategy.<kind>.fanout: a number for each layer that gathers, none of them 0. To be called where the job's
/// strategy is `kind`.
void check_batch_fanout(const Check& check, const std::string& kind);
/// The part of check_batch_fanout() that CEL can express: only the model knows how many layers gather.
ServerRule batch_fanout_rule(const std::string& kind);

/// Traffic of one step, without what batches fetch or push: that is only known once they are drawn.
EpochTraffic batch_traffic(const Options& options, const TrafficShape& shape);
std::vector<PairBytes> batch_flows(const Options& options, const TrafficShape& shape,
                                   const std::vector<CutRows>& cut);

/// Batches read what they draw, from any rank: parts have no order that would keep more of it on a server.
Layout own_parts(const Job& job);

// Options of strategies that fetch other ranks' features row by row: how many of their columns come, and what
// stands for the others.

/// The fields featureRate, fill and gpuFeatures. Without a value, featureRate is `initial`; 0 stands for the
/// paper's 0.85, or all columns where there are few.
std::vector<Field> feature_options(const std::string& kind, double initial);

/// The share of `columns` feature columns that is fetched; 1 where the job's strategy has no such option.
double feature_rate(const Job& job, std::int64_t columns);

/// Warns of those that do nothing. To be called where the job's strategy is `kind`.
void check_feature_options(const Check& check, const std::string& kind);

}  // namespace atl
