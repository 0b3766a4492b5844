// A rank's cache of historical embeddings (Vasimuddin et al. 2022, "DistGNN-MB"; Fey et al. 2021,
// "GNNAutoScale"), for the training thread. It keeps inner layers' inputs for other ranks' vertices, as their
// owners last pushed them. Before a step, the rows of the batch's leaves are read from it. After the step's
// forward, this rank pushes the rows that others keep. Pushed rows have `delay` steps to arrive, and are then
// put into their slots. Leaves take no gradient.
//
// The number of kept rows is fixed, and so is the number of rows that may arrive of one step. Only the memory
// for leaving rows grows.
#pragma once

#include <optional>
#include <vector>

#include "sampler/history/history_pushes.h"
#include "strategies/exchange/exchange.h"
#include "strategies/exchange/wire.h"
#include "strategies/schedule/layer_runner.h"

namespace atl {

/// One per rank. Calls are collective. References must outlive it.
class EmbeddingHistory {
 public:
  /// options.layers: the model's gathering layers, less one.
  EmbeddingHistory(Context& ctx, Communicator& comm, const Model& model, const HistoryRows& rows,
                   const HistoryOptions& options, Precision wire);
  EmbeddingHistory(const EmbeddingHistory&) = delete;
  ~EmbeddingHistory();

  /// Says which rows are kept, as of the next step.
  const HistoryDirectory& directory() const { return directory_; }
  /// `step` (from 0) is the next one that is trained. In a resumed run, fill state() before.
  void start(std::int64_t step);

  /// Each step calls begin(), then read() once the memory is shaped, then push() after its forward.
  void begin(std::int64_t step);
  void read(const Batch& batch, PassMemory& memory);
  void push(const StepPushes& pushes, PassMemory& memory);

  /// As Schedule::state().
  std::vector<NamedMatrix> state();
  void count(ScheduleBytes& bytes) const;
  /// How often memory had to grow.
  std::int64_t reallocations() const { return reallocations_ + directory_.reallocations(); }

 private:
  /// The rows pushed in one step.
  struct Flight {
    std::vector<Matrix> arriving;  // by inner layer: (slots, its width)
    std::vector<Matrix> leaving;   // (1, elements)
    Matrix known;                  // (2, numbers) which rows arrive, as in a checkpoint
    Event event;
    bool packed = false;  // rows that arrive aren't unpacked yet
  };
  Flight& flight_of(std::int64_t step) { return flights_[std::size_t(step) % flights_.size()]; }
  void settle(Flight& flight, const PushedRows& arriving);
  void write_known();
  void read_known(std::int64_t step);

  Context& ctx_;
  Communicator& comm_;
  Wire wire_;
  const HistoryRows& rows_;
  std::vector<int> layers_;  // the model's gathering layers, except the first
  HistoryDirectory directory_;
  std::vector<Matrix> kept_;     // by inner layer: (slots, its width)
  std::vector<Flight> flights_;  // (delay) by step
  Matrix ages_;                  // (inner layers, slots) as in a checkpoint
  DeviceCopies copies_;          // of the row numbers that a step reads, takes and pushes
  std::vector<Message> sends_, receives_;
  bool state_was_taken_ = false;  // whether state() was called since the last step
  std::int64_t next_ = 0, reallocations_ = 0;
};

}  // namespace atl
