// The rows of the table of strategies, one function per file, and functions that several of them use.
#pragma once

#include <vector>

#include "job/job.h"
#include "job/layout.h"
#include "partition/prepared_graph.h"
#include "sampler/batch_sampling.h"
#include "strategies/schedule/full_batch.h"
#include "strategies/schedule/strategy.h"

namespace atl {

Strategy graph_row();
Strategy pipegcn_row();
Strategy bns_row();
Strategy cagnet_row();
Strategy sancus_row();
Strategy minibatch_row();
Strategy gnnpipe_row();
Strategy granndis_row();
Strategy p3_row();
Strategy dgs_row();

/// The passes for which a schedule needs memory.
Passes passes_of(const ScheduleInput& in);
/// A full batch over the exchange that `make_exchange` makes.
std::unique_ptr<Schedule> full_batch_over(const ScheduleInput& in, MakeExchange make_exchange);
/// A full batch over several parts: an epoch has `steps` steps, and each trains on another part.
std::unique_ptr<Schedule> full_batch_of_parts(const ScheduleInput& in, int steps,
                                              const ExchangeOf& exchange_of);
/// A full batch over the exact exchange; `boundary_set` as in make_exact_exchange().
std::unique_ptr<Schedule> exact_full_batch(const ScheduleInput& in, bool overlap,
                                           std::unique_ptr<BoundarySet> boundary_set = nullptr);
/// All boundary rows, or a share of them that is drawn again in every epoch.
std::unique_ptr<BoundarySet> all_boundary_rows(const ScheduleInput& in);
std::unique_ptr<BoundarySet> sampled_boundary_rows(const ScheduleInput& in, double rate);
/// How batches are drawn, by the options that all strategies with batches have; without a feature store's
/// options.
BatchSamplingOptions batch_sampling(const ScheduleInput& in);
/// The values that stand for those columns of other ranks' rows that aren't fetched
/// (job/strategies/batch_options.h).
std::vector<Real> filled_columns(const ScheduleInput& in);

/// The rows that each pair of parts exchanges, without the pairs that exchange none. `induced`: in the graph
/// that inductive training sees.
std::vector<CutRows> cut_rows(const PreparedGraph& prepared, bool induced);

/// How the job's strategy draws batches from a graph of `vertices` vertices. What the model and the machine
/// decide (normalisation, attention, threads, features) isn't filled in.
BatchSamplingOptions job_sampling(const Job& job, Index vertices);

/// Whether a step's batches, over all ranks, have values in so few of the features that it pays to find out
/// which (TouchedFeatures). It assumes that values lie at random. `entries`: how many values a row has on
/// average.
bool touches_few(const Job& job, Index vertices, Index features, double entries);

/// The options of the job's cache of historical embeddings; none where it has no such cache.
std::optional<HistoryOptions> job_history(const Job& job);

}  // namespace atl
