// State that only the rank that trains a part has (Schedule::state: stale rows of approximate exchanges), in
// the files of a checkpoint. Only rank 0 sees the output folder, so the others' state goes to it and comes
// from it, one rank after the other.
#include "train/checkpoint/run_state.h"

#include <fmt/format.h>
#include <algorithm>
#include <deque>
#include <sstream>

#include "base/text.h"
#include "tensor/copies.h"

namespace atl {
namespace {

/// Names and shapes of one rank's state.
struct Shape {
  std::string name;
  Index rows = 0, cols = 0;
  Index count() const { return rows * cols; }
};
using Shapes = std::vector<Shape>;

/// Tells all ranks every rank's shapes.
std::vector<Shapes> all_shapes(Communicator& comm, std::span<const NamedMatrix> mine) {
  std::string text;
  for (const NamedMatrix& each : mine)
    text += fmt::format("{} {} {}\n", each.name, each.values.rows, each.values.cols);
  std::vector<Shapes> all;
  for (const auto& bytes : comm.all_gather(Traffic::kCheckpoint, std::as_bytes(std::span(text)))) {
    std::istringstream lines(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    Shapes& shapes = all.emplace_back();
    for (Shape s; lines >> s.name >> s.rows >> s.cols;) shapes.push_back(s);
  }
  return all;
}

std::vector<Matrix> room_for(const Shapes& shapes) {
  std::vector<Matrix> matrices;
  for (const Shape& shape : shapes) matrices.emplace_back(shape.rows, shape.cols);
  return matrices;
}

/// Sends a matrix from `from` to `to`. `source` and `target` count only on these two ranks, but all ranks
/// call it.
void carry(Communicator& comm, Rank from, Rank to, ConstMatrixView source, MatrixView target) {
  std::vector<RowsTo> sends;
  std::vector<RowsFrom> receives;
  if (comm.rank() == from) sends.push_back({to, source});
  if (comm.rank() == to) receives.push_back({from, target});
  comm.exchange(Lane::kBulk, Traffic::kCheckpoint, sends, receives).wait();
}

std::vector<TensorView> views_of(const Shapes& shapes, const std::vector<const Real*>& data) {
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    views.push_back(tensor_view(shapes[i].name, {shapes[i].rows, shapes[i].cols}, data[i]));
  return views;
}

/// Rank 0: whether the checkpoint's file for `rank`'s part was written for these parts on these ranks.
bool fits(const CheckpointStore& store, const Reached& at, const PartsOnRanks& parts, Rank rank,
          const Shapes& shapes) {
  const auto file = store.read_part_state(at, parts.part[std::size_t(rank)]);
  if (!file || file->metadata().count("parts") == 0 || file->metadata().at("parts") != parts.text())
    return false;
  return std::ranges::all_of(shapes, [&](const Shape& shape) {
    const TensorView* found = file->find(shape.name);
    return found != nullptr && found->shape == std::vector<Index>{shape.rows, shape.cols};
  });
}

/// The states in the host's memory, where they are read and written.
class HostStates {
 public:
  explicit HostStates(std::span<const NamedMatrix> states) {
    for (const NamedMatrix& each : states) {
      HostArray& array =
          arrays_.emplace_back(each.device, each.values.data, each.values.rows * each.values.cols);
      views_.push_back({each.name, {array.data(), each.values.rows, each.values.cols}});
    }
  }
  std::span<const NamedMatrix> views() const { return views_; }
  void put() {
    for (HostArray& each : arrays_) each.put();
  }

 private:
  std::deque<HostArray> arrays_;
  std::vector<NamedMatrix> views_;
};

bool agreed(Communicator& comm, bool of_rank_0) {
  std::byte answer{of_rank_0};
  comm.broadcast(Traffic::kCheckpoint, 0, std::span(&answer, 1));
  return answer != std::byte{0};
}

}  // namespace

std::string PartsOnRanks::text() const {
  return fmt::format("{} on ranks as {}", prepared, joined(part, ","));
}

std::vector<std::string> write_part_states(Communicator& comm, const CheckpointStore& store,
                                           const Reached& at, const PartsOnRanks& parts,
                                           std::span<const NamedMatrix> states) {
  const HostStates host(states);
  const std::span<const NamedMatrix> mine = host.views();
  const std::vector<Shapes> all = all_shapes(comm, mine);
  if (std::ranges::all_of(all, &Shapes::empty)) return {};
  std::vector<std::string> seals(comm.rank() == 0 ? all.size() : 0);
  for (Rank rank = 0; rank < comm.size(); ++rank) {
    const Shapes& shapes = all[std::size_t(rank)];
    std::vector<Matrix> arrived;
    if (comm.rank() == 0 && rank != 0) arrived = room_for(shapes);
    std::vector<const Real*> data;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const MatrixView own = comm.rank() == rank ? mine[i].values : MatrixView();
      const MatrixView target = arrived.empty() ? MatrixView() : arrived[i].view();
      if (rank != 0) carry(comm, rank, 0, own, target);
      data.push_back(rank == 0 ? own.data : target.data);
    }
    const int part = parts.part[std::size_t(rank)];
    if (comm.rank() == 0)
      seals[std::size_t(part)] = store.write_part_state(at, part, views_of(shapes, data), parts.text());
    comm.barrier();  // so that no rank waits longer than one file takes
  }
  return seals;
}

bool read_part_states(Communicator& comm, const CheckpointStore& store, const Reached& at,
                      const PartsOnRanks& parts, std::span<const NamedMatrix> states) {
  HostStates host(states);
  const std::span<const NamedMatrix> mine = host.views();
  const std::vector<Shapes> all = all_shapes(comm, mine);
  if (std::ranges::all_of(all, &Shapes::empty)) return true;
  for (Rank rank = 0; rank < comm.size(); ++rank) {
    const Shapes& shapes = all[std::size_t(rank)];
    if (!agreed(comm, comm.rank() == 0 && fits(store, at, parts, rank, shapes))) return false;
  }
  for (Rank rank = 0; rank < comm.size(); ++rank) {
    const Shapes& shapes = all[std::size_t(rank)];
    std::vector<Matrix> read;
    if (comm.rank() == 0) {
      read = room_for(shapes);
      const auto file = store.read_part_state(at, parts.part[std::size_t(rank)]);
      for (std::size_t i = 0; i < shapes.size(); ++i)
        file->copy_to(shapes[i].name, {shapes[i].rows, shapes[i].cols}, read[i].data());
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const MatrixView own = comm.rank() == rank ? mine[i].values : MatrixView();
      if (rank != 0)
        carry(comm, 0, rank, read.empty() ? ConstMatrixView() : read[i].view(), own);
      else if (comm.rank() == 0)
        std::copy_n(read[i].data(), shapes[i].count(), own.data);
    }
    comm.barrier();
  }
  host.put();
  return true;
}

}  // namespace atl
