// What a run did, without when: each rank's computing, measured, between the operations that it started and
// waited for. One recording can be replayed over any links (replay.h). Recorded by record.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/ledger.h"
#include "comm/trace.h"
#include "comm/transports.h"
#include "model/layer_work.h"

namespace atl {

/// In the order in which a rank's compute thread took them.
struct RecordedStep {
  enum class Kind {
    kEpoch,      // the epoch of `label` begins
    kCompute,    // for `seconds`
    kStart,      // of `operation`
    kWait,       // until it is finished
    kTake,       // the next batch, once it is made
    kExplain,    // number `operation` of RankRecording::explanations may begin
    kExplained,  // until it has ended
  };
  Kind kind = Kind::kCompute;
  double seconds = 0;  // of one processor
  int operation = -1;  // of RankRecording::operations
  WorkLabel label{};   // what the thread was at, at the end of it
  int unit = -1;  // the chunk, or the batch, of its epoch that it was at, which every epoch has; −1: none
};

struct RecordedMessage {
  Rank peer = 0;
  std::int64_t bytes = 0;
};

/// An exchange, or a sum over a group of ranks, whose messages the transport's own algorithm makes.
struct RecordedOperation {
  Lane lane = Lane::kSmall;
  Traffic purpose = Traffic::kSetup;
  std::vector<RecordedMessage> sends, receives;  // of an exchange
  bool sums = false, of_everyone = true;
  std::vector<Rank> members;  // of a sum; empty: all ranks
  Rank place = 0;             // among them
  int ranks = 1;              // of the group
  Index count = 0, width = 0;
};

/// What makes one mini-batch, or one explanation: steps of a thread of its own, and their operations.
struct RecordedBatch {
  std::vector<RecordedStep> steps;
  std::vector<RecordedOperation> operations;
};

/// Mini-batches that threads make ahead of the compute thread (sampler/batch_stream.h), in the order in which
/// they are taken.
struct RecordedBatches {
  int makers = 0;  // threads; each makes one at a time
  int ahead = 0;   // batches that may be made or under way beside the one that is trained on
  std::vector<RecordedBatch> all;
};

struct RankRecording {
  std::vector<RecordedStep> steps;
  std::vector<RecordedOperation> operations;
  RecordedBatches batches;
  std::vector<RecordedBatch> explanations;  // by number: a thread's that explains
};

struct Recording {
  std::vector<RankRecording> ranks;
  int epochs = 0;
  // that an epoch has for each that is recorded: a modelled job's epochs are one of its steps each
  double steps = 1;
  // (epochs) of the training vertices, as the real run has them; empty: ranks ran by themselves
  std::vector<double> losses;
  // How far the costs can be trusted:
  double spread = 0;          // of a segment between epochs, relative, weighted by its length
  double turns = 0;           // from rank to rank, in an epoch, by which a rank finds its caches cold …
  double refill_seconds = 0;  // … which costs it about so much each time
  int at_once = 1;            // ranks that computed at the same time
  int sampled = 0;        // ranks whose costs were measured; the others' follow from theirs; 0: all were …
  double law_error = 0;   // … and how far laws miss a measured rank that they don't know
  bool modelled = false;  // no rank was run: costs are kernels' work at `rates`
  // For topologies with rates of kernels (replay.cc):
  std::vector<EpochWork> works{};  // (ranks) of an epoch
  MachineRates rates{};            // of a rank here; 0: not measured
};

}  // namespace atl
