// A rank's cache of historical embeddings (Vasimuddin et al. 2022, "DistGNN-MB"; Fey et al. 2021,
// "GNNAutoScale"), on the side that trains: what others' vertices had as inputs of inner layers when their
// owners last pushed it. Before a step its leaves are read from here; after its forward this rank pushes what
// others keep of it. What was pushed is put in its slots `delay` steps later, and has until then to arrive.
// Leaves take no gradient.
//
// A fixed number of rows, and as many for each step on its way: nothing grows but what leaves.
#pragma once

#include <optional>
#include <vector>

#include "sampler/history/history_pushes.h"
#include "strategies/exchange/exchange.h"
#include "strategies/exchange/wire.h"
#include "strategies/schedule/layer_runner.h"

namespace atl {

/// One per rank. Calls are collective. References outlive it.
class EmbeddingHistory {
 public:
  /// options.layers: of the model that gather, but for one.
  EmbeddingHistory(Context& ctx, Communicator& comm, const Model& model, const HistoryRows& rows,
                   const HistoryOptions& options, Precision wire);
  EmbeddingHistory(const EmbeddingHistory&) = delete;
  ~EmbeddingHistory();

  /// What it has, as of the next step.
  const HistoryDirectory& directory() const { return directory_; }
  /// `step` (from 0) is the next one that is trained: of a resumed run, too, once state() is filled.
  void start(std::int64_t step);

  /// Steps go: begin(); read() once the memory is shaped; forward; push().
  void begin(std::int64_t step);
  void read(const Batch& batch, PassMemory& memory);
  void push(const StepPushes& pushes, PassMemory& memory);

  /// As Schedule::state().
  std::vector<NamedMatrix> state();
  void count(ScheduleBytes& bytes) const;
  /// How often memory had to grow.
  std::int64_t reallocations() const { return reallocations_ + directory_.reallocations(); }

 private:
  /// What is pushed in one step.
  struct Flight {
    std::vector<Matrix> arriving;  // by inner layer: (slots, its width)
    std::vector<Matrix> leaving;   // (1, elements)
    Matrix known;                  // (1, numbers) what arrives, as a checkpoint has it
    Event event;
    bool packed = false;  // what arrives isn't whole yet
  };
  Flight& flight_of(std::int64_t step) { return flights_[std::size_t(step) % flights_.size()]; }
  void settle(Flight& flight, const PushedRows& arriving);
  void write_known();
  void read_known(std::int64_t step);

  Context& ctx_;
  Communicator& comm_;
  Wire wire_;
  const HistoryRows& rows_;
  std::vector<int> layers_;  // of the model: those that gather, but for the first
  HistoryDirectory directory_;
  std::vector<Matrix> kept_;     // by inner layer: (slots, its width)
  std::vector<Flight> flights_;  // (delay) by step
  Matrix ages_;                  // (inner layers, slots) as a checkpoint has them
  DeviceCopies copies_;          // of what a step reads, takes and pushes
  std::vector<Message> sends_, receives_;
  bool is_told_ = false;  // state() was asked for since the last step
  std::int64_t next_ = 0, reallocations_ = 0;
};

}  // namespace atl
