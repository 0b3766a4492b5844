// What a run did, without times of day: each rank's measured computing, between the operations that it
// started and waited for. One recording can be replayed over any links (simulation.h). record.h makes
// recordings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/ledger.h"
#include "comm/trace.h"
#include "comm/transports.h"
#include "model/layer_work.h"

namespace atl {

/// A step of one of a rank's threads. Steps are in the order in which the thread took them.
struct RecordedStep {
  enum class Kind {
    kEpoch,      // the epoch of `label` begins
    kCompute,    // takes `seconds`
    kStart,      // starts `operation`
    kWait,       // waits for `operation`
    kTake,       // takes the next batch, once it is made
    kExplain,    // explanation `operation` of RankRecording::explanations may begin
    kExplained,  // waits for the end of that explanation
  };
  Kind kind = Kind::kCompute;
  double seconds = 0;  // on one processor
  int operation = -1;  // index in RankRecording::operations
  WorkLabel label{};   // the work that the thread was doing when the step ended
  int unit = -1;       // its chunk or batch of the epoch, where every epoch has the same ones; −1: none
};

struct RecordedMessage {
  Rank peer = 0;
  std::int64_t bytes = 0;
};

/// An exchange, or a sum over a group of ranks, whose messages follow from the transport's algorithm.
struct RecordedOperation {
  Lane lane = Lane::kSmall;
  Traffic purpose = Traffic::kSetup;
  std::vector<RecordedMessage> sends, receives;  // messages of an exchange
  bool sums = false, of_everyone = true;
  std::vector<Rank> members;  // the ranks that sum; empty: all ranks
  Rank place = 0;             // this rank's place among the members
  int ranks = 1;              // ranks of the group
  Index count = 0, width = 0;
};

/// The making of one mini-batch, or one explanation: the steps that a thread of its own took, and their
/// operations.
struct RecordedBatch {
  std::vector<RecordedStep> steps;
  std::vector<RecordedOperation> operations;
};

/// Mini-batches that threads make ahead of the compute thread (sampler/batch_stream.h), in the order in which
/// they are taken.
struct RecordedBatches {
  int makers = 0;  // threads; each makes one at a time
  int ahead = 0;   // batches that may be made or under way beside the one in training
  std::vector<RecordedBatch> all;
};

struct RankRecording {
  std::vector<RecordedStep> steps;
  std::vector<RecordedOperation> operations;
  RecordedBatches batches;
  std::vector<RecordedBatch> explanations;  // by number, the order in which the explaining thread did them
};

struct Recording {
  std::vector<RankRecording> ranks;
  int epochs = 0;
  // epochs of the recording in one real epoch; other than 1 for a modelled job, whose epochs are one step
  // each
  double steps = 1;
  // (epochs) losses on the training vertices, as in the real run; empty: ranks ran by themselves
  std::vector<double> losses;
  // How far the costs can be trusted:
  double spread = 0;          // a segment's relative deviation between epochs, weighted by its length
  double turns = 0;           // turns of ranks in an epoch; at each turn a rank finds its caches cold
  double refill_seconds = 0;  // seconds that a rank loses at a turn, about
  int at_once = 1;            // ranks that computed at the same time
  int sampled = 0;            // ranks whose costs were measured; the others' follow from these; 0: all ranks
  double law_error = 0;       // relative error of the laws for a measured rank that is left out of the fit
  bool modelled = false;      // no rank was run: costs are kernels' work at `rates`
  // For topologies with rates of kernels (replay.cc):
  std::vector<EpochWork> works{};  // (ranks), of an epoch
  MachineRates rates{};            // of one rank on this machine; 0: not measured
};

}  // namespace atl
