// Makes batches ahead of time: separate threads sample the next steps' batches and fetch their features while
// a step trains. Slots are recycled; a step waits only if sampling is slower than training.
//
// One maker makes batches in the order of steps, so that all ranks' exchanges on Lane::kPrefetch are in one
// order. If nothing is exchanged there may be several makers, each on its own thread with its own batch;
// draws are keyed by step, so the batches are the same. If a maker throws, the thread that asks for that
// step's batch gets the exception.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sampler/batch.h"
#include "sampler/column_choice.h"
#include "sampler/column_push.h"
#include "sampler/feature_store.h"
#include "sampler/history/history_pushes.h"
#include "sampler/pairs/pair_draws.h"
#include "sampler/sampler.h"
#include "sampler/seeds.h"

namespace atl {

struct StreamedBatch {
  Batch batch;
  StepPairs pairs;    // for link prediction
  SharedRows shares;  // if the stream counts them
  StepPushes pushes;  // of historical embeddings
  GroupBatch group;   // if features are held by columns: the batches of the rank's group
  // (batch.rows().size(), F), or (the group's rows, columns here); empty if the stream fetches none
  FeatureRows features;
  Reusable<VertexId> touched;    // features with a value in some rank's rows; empty: not looked for
  RowSources sources;            // rows that `features` lacks because the device finds them itself
  Index reallocations = 0;       // of the maker's memory, since the maker was made
  bool grew = false;             // whether memory grew because this batch is larger than those before
  FeatureStore::Counts fetched;  // where its features came from
};

/// Makes a step's batch. Only one thread of the stream calls it and uses what it refers to.
using MakeBatch = std::function<void(std::int64_t step, StreamedBatch& into)>;
/// Makers of a batch's parts besides seeds and neighbours; null: not wanted. All outlive the MakeBatch.
struct BatchMakers {
  FeatureStore* features = nullptr;
  ColumnPush* columns = nullptr;
  TouchedFeatures* touched = nullptr;
  RowShares* shares = nullptr;
  PairEnds* pairs = nullptr;  // replaces the seeds, which are edge numbers, by the ends of pairs
  BatchMasks* masks = nullptr;
  HistoryPushes* history = nullptr;
  Trace* trace = nullptr;
};
/// Makes the step's seeds, their neighbours, and the parts that `makers` asks for. All arguments outlive it.
/// Their Errors are thrown again with the epoch and step.
MakeBatch batch_maker(StepSeeds& seeds, Sampler& sampler, const BatchMakers& makers);

class BatchStream {
 public:
  struct Options {
    std::int64_t first = 0, end = 0;  // steps first … end − 1
    int ahead = 2;                    // batches that may be ready beside those in training; at least 1
    int held = 1;  // batches in training at once; a batch is valid until this many more were asked for
    /// Abandoned if an error destroys the stream, so that threads that wait for a peer end. May be null.
    Communicator* comm = nullptr;
  };
  /// Starts a thread per maker; several makers only if they exchange nothing with other ranks.
  BatchStream(std::vector<MakeBatch> makers, const Options& options);
  /// Unless an error destroys the stream, all ranks must have asked for the same number of batches. The
  /// threads of every rank then make the batches that their slots have room for, and end.
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  /// Waits for the next step's batch, which is valid for Options::held calls; null after the last one. If
  /// making it failed, rethrows that exception, now and at every later call.
  const StreamedBatch* next();

  /// Totals so far; any thread may ask.
  struct Figures {
    std::int64_t made = 0;     // batches
    Index arcs = 0, rows = 0;  // of the batches
    Index reallocations = 0;   // of the memory of batches and of their makers
    FeatureStore::Counts fetched;
    double making_seconds = 0;  // of the stream's threads …
    double waited_seconds = 0;  // … and of callers in next()
  };
  Figures figures() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace atl
