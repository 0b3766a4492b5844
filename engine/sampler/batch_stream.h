// Batches ahead of time: threads of their own sample the next steps' batches and fetch their features while
// this step trains. Slots are recycled; a step waits only where sampling is slower than training.
//
// One maker makes batches in the order of steps, so that all ranks' exchanges on Lane::kPrefetch are in one
// order. Where nothing is exchanged there may be several, each on its own thread, with a batch of its own at
// a time: draws are keyed by step, so the batches are the same. What a maker throws is thrown to whoever asks
// for the step that it was making.
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
  StepPairs pairs;    // of link prediction
  SharedRows shares;  // where the stream counts them
  StepPushes pushes;  // of historical embeddings
  GroupBatch group;   // where features are held by columns: the batches of the rank's group
  // (batch.rows().size(), F), or (the group's rows, columns here); empty where the stream fetches none
  FeatureRows features;
  Reusable<VertexId> touched;    // features with a value in some rank's rows; empty: nobody found out
  RowSources sources;            // of rows that `features` lacks, because the device finds them itself
  Index reallocations = 0;       // of the memory of what made it, since that was made
  bool grew = false;             // memory, because this batch was larger than those before
  FeatureStore::Counts fetched;  // where its features came from
};

/// Makes a step's batch. Called by one thread of the stream alone, with what it uses.
using MakeBatch = std::function<void(std::int64_t step, StreamedBatch& into)>;
/// What makes batches beside seeds and neighbours; null: not wanted. All outlive what is made.
struct BatchMakers {
  FeatureStore* features = nullptr;
  ColumnPush* columns = nullptr;
  TouchedFeatures* touched = nullptr;
  RowShares* shares = nullptr;
  PairEnds* pairs = nullptr;  // of what seeds are numbers of
  BatchMasks* masks = nullptr;
  HistoryPushes* history = nullptr;
  Trace* trace = nullptr;
};
/// Seeds of the step, their neighbours, and of all of them what is wanted. All outlive it. An Error of theirs
/// is told with the step that it happened in.
MakeBatch batch_maker(StepSeeds& seeds, Sampler& sampler, const BatchMakers& makers);

class BatchStream {
 public:
  struct Options {
    std::int64_t first = 0, end = 0;  // steps first … end − 1
    int ahead = 2;  // batches that may be ready beside those that are trained on; at least 1
    int held = 1;   // batches that are trained on at once: a batch is valid until so many more were asked for
    /// Abandoned where the stream is destroyed by an error, so that its threads, which may wait for a peer,
    /// end. May be null.
    Communicator* comm = nullptr;
  };
  /// A thread for each maker; more than one only where they exchange nothing with other ranks.
  BatchStream(std::vector<MakeBatch> makers, const Options& options);
  /// Where all went well, all ranks must have asked for the same number of batches: the threads make those
  /// that their slots have room for, as every rank's do, and then end.
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  /// The next step's batch, valid for Options::held calls; null after the last one. Waits for it. Rethrows
  /// what making it threw, then and at every later call.
  const StreamedBatch* next();

  /// What has been done so far; any thread may ask.
  struct Figures {
    std::int64_t made = 0;     // batches
    Index arcs = 0, rows = 0;  // of them
    Index reallocations = 0;   // of memory, of batches and of what makes them
    FeatureStore::Counts fetched;
    double making_seconds = 0;  // of the stream's threads, …
    double waited_seconds = 0;  // … and of whoever stood in next()
  };
  Figures figures() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace atl
