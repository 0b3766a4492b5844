#include "strategies/schedule/embedding_history.h"

#include <fmt/format.h>
#include <utility>

#include "base/error.h"
#include "tensor/kernels.h"

namespace atl {
namespace {

std::vector<int> inner_layers(const Model& model) {
  std::vector<int> layers;
  for (int l = 0; l < int(model.layers.size()); ++l)
    if (model.spec(l).gathers) layers.push_back(l);
  layers.erase(layers.begin());
  return layers;
}

}  // namespace

EmbeddingHistory::EmbeddingHistory(Context& ctx, Communicator& comm, const Model& model,
                                   const HistoryRows& rows, const HistoryOptions& options, Precision wire)
    : ctx_(ctx),
      comm_(comm),
      wire_(ctx, wire),
      rows_(rows),
      layers_(inner_layers(model)),
      directory_(rows, options),
      flights_(std::size_t(options.delay)),
      ages_(options.layers, rows.slots()),
      copies_(ctx) {
  ATOLL_CHECK(int(layers_.size()) == options.layers, "{} inner layers, not {}", layers_.size(),
              options.layers);
  const Index numbers = 1 + Index(rows.ranks()) * options.layers + rows.slots();
  for (Flight& each : flights_) each.known = Matrix(2, numbers);
  for (const int l : layers_) {
    const Index width = model.spec(l).in;
    kept_.emplace_back(rows.slots(), width, ctx.device);
    fill(ctx_, 0, kept_.back());
    for (Flight& each : flights_) {
      each.arriving.emplace_back(rows.slots(), width, ctx.device);
      fill(ctx_, 0, each.arriving.back());
      each.leaving.emplace_back();
    }
  }
}

/// Waits for transfers, because they write to memory that is freed here. Errors are ignored: an earlier call
/// that waited for the lost rank has reported it.
EmbeddingHistory::~EmbeddingHistory() {
  try {
    for (Flight& each : flights_) each.event.wait();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
  }
}

void EmbeddingHistory::start(std::int64_t step) {
  if (state_was_taken_) read_known(step);
  next_ = step;
}

/// Waits for what arrives and unpacks it.
void EmbeddingHistory::settle(Flight& flight, const PushedRows& arriving) {
  flight.event.wait();
  if (!std::exchange(flight.packed, false)) return;
  for (std::size_t i = 0; i < kept_.size(); ++i)
    wire_.unpack(flight.arriving[i].view().slice_rows(0, arriving.all_of(int(i))));
}

void EmbeddingHistory::begin(std::int64_t step) {
  copies_.restart();
  directory_.begin(step);
  const PushedRows* const due = directory_.due(step);
  if (due == nullptr) return;
  Flight& flight = flight_of(step - directory_.options().delay);
  settle(flight, *due);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    Index row = 0;
    for (Rank peer = 0; peer < comm_.size(); ++peer) {
      const auto slots = due->of(peer, int(i));
      if (slots.empty()) continue;
      scatter_rows(ctx_, flight.arriving[i].view().slice_rows(row, Index(slots.size())),
                   copies_.of(slots).data(), kept_[i]);
      row += Index(slots.size());
    }
  }
}

void EmbeddingHistory::read(const Batch& batch, PassMemory& memory) {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const int hop = int(i) + 1;
    const Leaves& leaves = batch.leaves(hop);
    if (leaves.size() == 0) continue;
    gather_rows(ctx_, kept_[i], copies_.of(leaves.slots.span()).data(),
                memory.input(layers_[i]).slice_rows(batch.input_rows(hop), leaves.size()));
  }
}

void EmbeddingHistory::push(const StepPushes& pushes, PassMemory& memory) {
  const std::int64_t step = directory_.step();
  Flight& flight = flight_of(step);
  flight.event.wait();
  sends_.clear(), receives_.clear();
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const ConstMatrixView rows = memory.output(layers_[i] - 1);
    const Index leaving = pushes.leaving.all_of(int(i));
    if (flight.leaving[i].grow(1, leaving * rows.cols, ctx_.device, true)) ++reallocations_;
    const PackedRows out = wire_.packed({flight.leaving[i].data(), leaving, rows.cols}),
                     in = wire_.packed(flight.arriving[i]);
    Index sent = 0, received = 0;
    for (Rank peer = 0; peer < comm_.size(); ++peer) {
      const auto own = pushes.leaving.of(peer, int(i));
      if (const auto count = Index(own.size()); count > 0) {
        const PackedRows to = out.slice(sent, count);
        wire_.gather(rows, copies_.of(own).data(), to);
        sends_.push_back(to.message(peer));
        sent += count;
      }
      if (const auto count = Index(pushes.arriving.of(peer, int(i)).size()); count > 0) {
        receives_.push_back(in.slice(received, count).message(peer));
        received += count;
      }
    }
  }
  directory_.add(pushes.arriving);
  flight.event = comm_.exchange(Lane::kBulk, Traffic::kHalo, sends_, receives_, ctx_.stream);
  flight.packed = true;
  state_was_taken_ = false;
  next_ = step + 1;
}

void EmbeddingHistory::count(ScheduleBytes& bytes) const {
  const auto add = [&](const std::vector<Matrix>& all) {
    for (const Matrix& each : all) bytes.halo += each.held_bytes();
  };
  add(kept_);
  for (const Flight& each : flights_) {
    add(each.arriving), add(each.leaving);
    bytes.halo += each.known.held_bytes();
  }
  // The threads that make batches have a directory too.
  bytes.halo += ages_.held_bytes() + rows_.bytes() + 2 * directory_.bytes();
}

// A checkpoint has these matrices of a rank's historical embeddings: the kept rows, their ages, and the rows
// under way with their slots. A number is written as two Reals, because one float doesn't hold all of them
// exactly.

namespace {

constexpr Index kHalf = Index(1) << 20;

/// Writes or reads numbers one after the other in a matrix (2, numbers): a column has a number's high and low
/// half.
class Numbers {
 public:
  explicit Numbers(MatrixView numbers) : numbers_(numbers) {}
  void put(Index n) {
    const Index high = n / kHalf, low = n % kHalf;
    numbers_.at(0, at_) = Real(high), numbers_.at(1, at_) = Real(low);
    ++at_;
  }
  Index take() {
    const auto n = Index(numbers_.at(0, at_)) * kHalf + Index(numbers_.at(1, at_));
    ++at_;
    return n;
  }

 private:
  MatrixView numbers_;
  Index at_ = 0;
};

}  // namespace

/// Waits for the rows under way, so that a checkpoint can hold them. A resumed run uses them in the same step
/// as this one.
std::vector<NamedMatrix> EmbeddingHistory::state() {
  if (rows_.slots() == 0) {
    for (Flight& each : flights_) each.event.wait();
    return {};
  }
  // Without a step since the last call, ages_ and `known` are right as they are. They may come from a
  // checkpoint, which the directory learns of only in start(), so they must not be written again.
  if (!std::exchange(state_was_taken_, true)) write_known();
  std::vector<NamedMatrix> all{{"history.ages", ages_}};
  for (std::size_t i = 0; i < kept_.size(); ++i)
    all.push_back({fmt::format("history.rows.{}", i), kept_[i], ctx_.device});
  for (std::size_t f = 0; f < flights_.size(); ++f) {
    all.push_back({fmt::format("history.arriving.{}", f), flights_[f].known});
    for (std::size_t i = 0; i < kept_.size(); ++i)
      all.push_back({fmt::format("history.arriving.{}.{}", f, i), flights_[f].arriving[i], ctx_.device});
  }
  return all;
}

/// A flight's first number says how many steps ago it was begun.
void EmbeddingHistory::write_known() {
  for (int layer = 0; layer < ages_.rows(); ++layer)
    for (VertexId slot = 0; slot < VertexId(rows_.slots()); ++slot)
      ages_.at(layer, slot) = Real(directory_.age(layer, slot, next_));
  for (Flight& each : flights_) each.known.zero();
  for (std::int64_t ago = 1; ago <= directory_.options().delay; ++ago) {
    const PushedRows* const pushed = directory_.pushed_in(next_ - ago);
    if (pushed == nullptr) continue;
    Flight& flight = flight_of(next_ - ago);
    settle(flight, *pushed);
    Numbers to(flight.known);
    to.put(ago);
    for (const Index count : pushed->counts) to.put(count);
    for (const VertexId slot : pushed->rows.span()) to.put(slot);
  }
}

void EmbeddingHistory::read_known(std::int64_t step) {
  for (int layer = 0; layer < ages_.rows(); ++layer)
    for (VertexId slot = 0; slot < VertexId(rows_.slots()); ++slot)
      directory_.set_age(layer, slot, step, std::int64_t(ages_.at(layer, slot)));
  const auto ranks = std::size_t(rows_.ranks()), layers = kept_.size();
  for (Flight& flight : flights_) {
    Numbers from(flight.known);
    const Index ago = from.take();
    if (ago == 0) continue;
    PushedRows& pushed = directory_.put(step - ago);
    pushed.counts.resize(ranks * layers), pushed.begins.assign(ranks + 1, 0);
    for (Index& count : pushed.counts) count = from.take();
    for (std::size_t r = 0; r < ranks; ++r)
      pushed.begins[r + 1] = pushed.begins[r] + pushed.counts[r * layers];
    for (VertexId& slot : pushed.rows.take(pushed.begins.back())) slot = VertexId(from.take());
  }
}

}  // namespace atl
