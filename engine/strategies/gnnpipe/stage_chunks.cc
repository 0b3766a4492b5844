// A stage's chunks: the memory of its passes over them, how stages send them to each other, and the order in
// which a stage infers them.
#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "strategies/gnnpipe/pipeline.h"

namespace atl {

ChunkMemories::ChunkMemories(Context& ctx, const Model& model, const LayerRange& layers, Passes passes,
                             std::span<const ChunkRows> chunks, StageRows& rows, const ChunkPass& pass,
                             std::size_t arriving)
    : layers_(layers), chunks_(chunks), rows_(rows) {
  if (layers.first == layers.end) return;
  std::vector<std::vector<LayerRows>> of_chunks;
  Index most = 0;
  memories_.reserve(chunks.size());
  for (int c = 0; c < int(chunks.size()); ++c) {
    PassMemory& memory = memories_.emplace_back(ctx.device, model, layers, passes);
    memory.share(backward_);
    std::vector<LayerRows>& each = of_chunks.emplace_back();
    for (int l = layers.first; l < layers.end; ++l) each.push_back(pass.rows_of(l, c));
    memory.make_room(each);
    most = std::max(most, each.back().outputs);
  }
  place_outputs();
  for (int c = 0; c < int(chunks.size()); ++c) of(c).shape(of_chunks[std::size_t(c)]);
  if (passes == Passes::kInference) return;
  d_outputs_.resize(std::min(arriving, chunks.size()));
  const Index width = model.spec(layers.end - 1).out;
  for (Matrix& each : d_outputs_) each.resize(most, width, ctx.device);
}

void ChunkMemories::place_outputs() {
  for (std::size_t c = 0; c < memories_.size(); ++c) {
    const ChunkRows& chunk = chunks_[c];
    for (int l = layers_.first; l < layers_.end; ++l)
      memories_[c].place_output(l, rows_.present(l + 1).slice_rows(chunk.begin, chunk.rows()));
  }
}

void ChunkMemories::keep_outputs(bool on) {
  for (PassMemory& each : memories_) each.keep_outputs(on);
}

void ChunkMemories::place_gradients(std::span<const int> order) {
  for (std::size_t place = 0; place < order.size() && !empty(); ++place) {
    const int chunk = order[place];
    const Index rows = chunks_[std::size_t(chunk)].rows();
    of(chunk).place_d_output(d_outputs_[place % d_outputs_.size()].view().slice_rows(0, rows));
  }
}

void ChunkMemories::count(ScheduleBytes& bytes) const {
  for (const PassMemory& each : memories_) each.count(bytes);
  backward_.count(bytes);
  for (const Matrix& each : d_outputs_) bytes.gradients += each.held_bytes();
}

void ChunkArrivals::begin(Traffic purpose) {
  by_place_.clear();
  purpose_ = purpose;
  events_.clear();
}

void ChunkArrivals::receive(std::size_t place) {
  messages_.clear();
  for (const MatrixView& each : by_place_[place].all())
    messages_.push_back(wire_.of(purpose_).packed(each).message(from_));
  events_.push_back(comm_.exchange(Lane::kBulk, purpose_, {}, messages_, ctx_.stream));
}

/// kAhead is below the number of a lane's slots (comm/transports.h), which leaves some for sends and
/// exchanges.
void ChunkArrivals::wait(std::size_t place) {
  const std::size_t until = std::min(place + kAhead, by_place_.size());
  while (events_.size() < until) receive(events_.size());
  events_[place].wait();
  for (const MatrixView& each : by_place_[place].all()) wire_.of(purpose_).unpack(each);
}

void ChunkDepartures::make_staging(Index rows, std::span<const Index> cols) {
  for (const Index each : cols) staging_.emplace_back().resize(rows, wire_.copied_columns(each), ctx_.device);
}

void ChunkDepartures::send(Traffic purpose, const ChunkMatrices& leaving, Index first) {
  const std::span<const MatrixView> matrices = leaving.all();
  messages_.clear();
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const MatrixView staging =
        i < staging_.size() ? staging_[i].view().slice_rows(first, matrices[i].rows) : MatrixView();
    messages_.push_back(wire_.of(purpose).pack_copy(matrices[i], staging).message(to_));
  }
  events_.push_back(comm_.exchange(Lane::kBulk, purpose, messages_, {}, ctx_.stream));
}

void ChunkDepartures::send_in_place(Traffic purpose, const ChunkMatrices& matrices) {
  messages_.clear();
  for (const MatrixView& each : matrices.all())
    messages_.push_back(wire_.of(purpose).pack(each).message(to_));
  events_.push_back(comm_.exchange(Lane::kBulk, purpose, messages_, {}, ctx_.stream));
}

Index ChunkDepartures::bytes() const {
  Index sum = 0;
  for (const Matrix& each : staging_) sum += each.held_bytes();
  return sum;
}

void ChunkDepartures::finish() {
  for (Event& each : events_) each.wait();
  events_.clear();
}

// The order of inference. Exact inference reads no rows of an earlier pass. So before a layer computes a
// chunk, the layer below must have computed every chunk that it reads. A chunk moves on to the next layer and
// the next stage as soon as it can, and doesn't wait for all chunks.

namespace {

class Flow {
 public:
  Flow(const ChunkReads& reads, std::span<const int> order, const std::vector<bool>& gathers)
      : order_(order),
        gathers_(gathers),
        readers_(reads.size()),
        place_(reads.size()),
        missing_(gathers.size(), std::vector<int>(reads.size(), 1)),
        has_made_(reads.size(), false) {
    for (std::size_t i = 0; i < order.size(); ++i) place_[std::size_t(order[i])] = int(i);
    for (std::size_t chunk = 0; chunk < reads.size(); ++chunk)
      for (const int read : reads[chunk]) readers_[std::size_t(read)].push_back(int(chunk));
    for (std::size_t layer = 0; layer < gathers.size(); ++layer)
      for (std::size_t chunk = 0; gathers[layer] && chunk < reads.size(); ++chunk)
        missing_[layer][chunk] += int(reads[chunk].size());
  }

  std::vector<FlowStep> steps() {
    for (const int chunk : order_) {
      steps_.push_back({FlowStep::Kind::kArrive, chunk, 0});
      is_made(0, chunk);
      while (!ready_.empty()) {
        const auto [layer, place] = ready_.top();
        ready_.pop();
        steps_.push_back({FlowStep::Kind::kRun, order_[std::size_t(-place)], layer});
        is_made(layer + 1, order_[std::size_t(-place)]);
      }
    }
    return std::move(steps_);
  }

 private:
  /// Counts a chunk's input of `layer` as made, for the chunk itself and, where the layer gathers, for its
  /// readers.
  void is_made(int layer, int chunk) {
    if (layer == int(gathers_.size())) return leave(chunk);
    count_down(layer, chunk);
    if (!gathers_[std::size_t(layer)]) return;
    for (const int reader : readers_[std::size_t(chunk)]) count_down(layer, reader);
  }
  void count_down(int layer, int chunk) {
    if (--missing_[std::size_t(layer)][std::size_t(chunk)] == 0)
      ready_.emplace(layer, -place_[std::size_t(chunk)]);
  }
  /// Chunks leave in order, whichever is finished first.
  void leave(int chunk) {
    has_made_[std::size_t(chunk)] = true;
    for (; left_ < order_.size() && has_made_[std::size_t(order_[left_])]; ++left_)
      steps_.push_back({FlowStep::Kind::kLeave, order_[left_], 0});
  }

  std::span<const int> order_;
  const std::vector<bool>& gathers_;
  std::vector<std::vector<int>> readers_;  // by chunk
  std::vector<int> place_;                 // by chunk
  std::vector<std::vector<int>> missing_;  // (layers, chunks) how many chunks' inputs are still missing
  // (layer, −place): the last layer first, and in it the first chunk of the order.
  std::priority_queue<std::pair<int, int>> ready_;
  std::vector<bool> has_made_;  // by chunk: whether the last layer has made it
  std::size_t left_ = 0;
  std::vector<FlowStep> steps_;
};

}  // namespace

/// Sums over ranks for some readers at a time, because pairs of chunks are many.
ChunkReads reads_of_group(Communicator& comm, const RankGroup& group, std::span<const ChunkRows> chunks) {
  constexpr std::size_t kPairs = std::size_t(1) << 17;  // a megabyte
  const std::size_t count = chunks.size();
  const std::size_t together = count == 0 ? 1 : std::max<std::size_t>(1, kPairs / count);
  ChunkReads reads(count);
  std::vector<double> read;  // (reader, chunk): in how many ranks it is read
  for (std::size_t first = 0; first < count; first += together) {
    const std::size_t end = std::min(count, first + together);
    read.assign((end - first) * count, 0);
    for (std::size_t k = first; k < end; ++k)
      for (const ChunkRun& run : chunks[k].runs) read[(k - first) * count + std::size_t(run.chunk)] = 1;
    comm.all_reduce(Traffic::kSetup, group, std::span(read));
    for (std::size_t k = first; k < end; ++k)
      for (std::size_t other = 0; other < count; ++other)
        if (other != k && read[(k - first) * count + other] > 0) reads[k].push_back(int(other));
  }
  return reads;
}

std::vector<int> flow_order(const ChunkReads& reads) {
  std::vector<std::vector<int>> readers(reads.size());
  std::vector<int> missing;  // by chunk: how many chunks that it reads aren't taken, less those that are
  for (std::size_t chunk = 0; chunk < reads.size(); ++chunk) {
    missing.push_back(int(reads[chunk].size()));
    for (const int read : reads[chunk]) readers[std::size_t(read)].push_back(int(chunk));
  }
  std::vector<int> order;
  constexpr int kTaken = std::numeric_limits<int>::max();
  while (order.size() < reads.size()) {
    const auto next = std::ranges::min_element(missing) - missing.begin();
    for (const int reader : readers[std::size_t(next)])
      if (missing[std::size_t(reader)] != kTaken) missing[std::size_t(reader)] -= 2;
    missing[std::size_t(next)] = kTaken;
    order.push_back(int(next));
  }
  return order;
}

std::vector<FlowStep> chunk_flow(const ChunkReads& reads, std::span<const int> order,
                                 const std::vector<bool>& gathers) {
  return Flow(reads, order, gathers).steps();
}

// Exact inference in a pipeline: chunk by chunk, a stage does whatever can be done.

void Pipeline::exchange_input(int l, int chunk) {
  if (l < inside_.end && layer(l).spec().gathers) pass_->exchange(l, chunk);
}

void Pipeline::infer_layer(int l, int chunk) {
  pass_->at_chunk(chunk);
  runner_.forward(l, *pass_, parameters_.present(), memories_->of(chunk), input(chunk));
  exchange_input(l + 1, chunk);
}

ConstMatrixView Pipeline::infer() {
  place_outputs();
  pass_->begin_inference();
  run_whole_layers(0, false);
  if (!is_first()) expect_rows(Traffic::kEvaluation, inferred_);
  std::size_t arrived = 0;
  for (const auto& [kind, chunk, layer] : flow_) {
    switch (kind) {
      case FlowStep::Kind::kArrive:
        if (!is_first()) from_previous_.wait(arrived++);
        exchange_input(inside_.first, chunk);
        break;
      case FlowStep::Kind::kRun:
        infer_layer(inside_.first + layer, chunk);
        break;
      case FlowStep::Kind::kLeave:
        if (!is_last())
          to_next_.send(Traffic::kEvaluation, leaving(chunk), chunks_[std::size_t(chunk)].begin);
    }
  }
  to_next_.finish();
  enter(Work::kNone);
  const MatrixView logits = rows_->present(layers_.end);
  return is_last() ? logits : MatrixView(nullptr, 0, model_.layers.back()->spec().out);
}

ConstMatrixView Pipeline::embeddings() const {
  const int last = int(model_.layers.size()) - 1;
  if (last == 0) return {};
  return is_last() ? rows_->present(last) : MatrixView(nullptr, 0, layer(last).spec().in);
}

}  // namespace atl
