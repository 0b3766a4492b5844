// How a job's batches are drawn, by the options of its strategy: the same in training, in plans and in benchmarks.
#pragma once

#include "job/job.h"
#include "sampler/batch_sampling.h"

namespace atl {

/// Of a graph of so many vertices. Without what the model and the machine say: normalisation, attention, threads, features.
BatchSamplingOptions job_sampling(const Job& job, Index vertices);

/// Of its cache of historical embeddings; none: it has none.
std::optional<HistoryOptions> job_history(const Job& job);

}  // namespace atl
