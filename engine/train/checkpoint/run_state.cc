#include "train/checkpoint/run_state.h"

#include <cstring>

#include "base/sha256.h"
#include "job/load.h"
#include "job/strategies.h"

namespace atl {

// Puts parameters together as files hold them, and takes a rank's rows from there.

namespace {

using Entry = Parameters::Entry;
using Blob = std::vector<std::byte>;

/// Precedes a slice's values on their way to rank 0.
struct SliceHead {
  Index entry;
  RowRange rows;
};

void append(Blob& blob, const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  blob.insert(blob.end(), begin, begin + bytes);
}

/// The slices of which this rank is the first replica, so that every row is sent once.
Blob pack(const Parameters& parameters, Rank rank, const Real* values, bool trainable_only) {
  Blob blob;
  for (std::size_t i = 0; i < parameters.entries().size(); ++i) {
    const Entry& e = parameters.entries()[i];
    const Placement& p = e.placement;
    if (p.everywhere() || e.count == 0 || p.replicas.front() != rank) continue;
    if (trainable_only && !e.spec.trainable) continue;
    const Real* rows = values + e.offset;
    for (const RowRange& range : p.rows) {
      const SliceHead head{Index(i), range};
      append(blob, &head, sizeof head);
      append(blob, rows, std::size_t(range.count * e.spec.cols) * sizeof(Real));
      rows += range.count * e.spec.cols;
    }
  }
  return blob;
}

/// Copies a rank's slices to their places. places[i] (1, elements of the whole) belongs to entry i.
void unpack(const Blob& blob, const Parameters& parameters, const std::vector<MatrixView>& places,
            std::vector<Index>& rows) {
  for (std::size_t at = 0; at < blob.size();) {
    SliceHead head;
    std::memcpy(&head, blob.data() + at, sizeof head);
    at += sizeof head;
    const auto entry = std::size_t(head.entry);
    const Index cols = parameters.entries()[entry].spec.cols;
    const std::size_t bytes = std::size_t(head.rows.count * cols) * sizeof(Real);
    if (bytes > 0) std::memcpy(places[entry].data + head.rows.begin * cols, blob.data() + at, bytes);
    at += bytes;
    rows[entry] += head.rows.count;
  }
}

}  // namespace

MatrixView WholeTensors::room_for(const Entry& e, const std::string& prefix) {
  Matrix& whole = put_together_.emplace_back(1, e.spec.rows * e.spec.cols);
  tensors_.push_back(tensor_view(prefix + e.spec.name, {e.spec.rows, e.spec.cols}, whole.data()));
  return whole;
}

void WholeTensors::add(const Real* values, const std::string& prefix, bool trainable_only) {
  const std::vector<Entry>& entries = parameters_.entries();
  std::vector<MatrixView> places(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& e = entries[i];
    if (trainable_only && !e.spec.trainable) continue;
    if (e.placement.everywhere())
      tensors_.push_back(tensor_view(prefix + e.spec.name, {e.spec.rows, e.spec.cols}, values + e.offset));
    else if (comm_.rank() == 0)
      places[i] = room_for(e, prefix);
  }
  if (parameters_.everywhere()) return;
  std::vector<Blob> to(std::size_t(comm_.size()));
  to[0] = pack(parameters_, comm_.rank(), values, trainable_only);
  std::vector<Index> rows(entries.size(), 0);
  for (const Blob& from : comm_.all_to_all(Traffic::kCheckpoint, to)) unpack(from, parameters_, places, rows);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& e = entries[i];
    ATOLL_CHECK(places[i].data == nullptr || rows[i] == e.spec.rows, "{} of {} rows of {} are held somewhere",
                rows[i], e.spec.rows, e.spec.name);
  }
}

void WholeTensors::add(HostArray values, const std::string& prefix, bool trainable_only) {
  add(held_.emplace_back(std::move(values)).data(), prefix, trainable_only);
}

void read_held_rows(const SafetensorsFile& file, const Parameters& parameters, Real* values,
                    const std::string& prefix, bool trainable_only) {
  for (const Entry& e : parameters.entries()) {
    if (trainable_only && !e.spec.trainable) continue;
    Real* held = values + e.offset;
    for (const RowRange& range : e.placement.rows) {
      file.copy_rows_to(prefix + e.spec.name, {e.spec.rows, e.spec.cols}, range.begin, range.count, held);
      held += range.count * e.spec.cols;
    }
  }
}

// A run's identity, and its state in a checkpoint's files.

namespace {

std::string moment_prefix(std::size_t i) {
  return fmt::format("optimizer.moment{}.", i + 1);
}

}  // namespace

Identity identity_of(const Job& job, const DatasetMeta& dataset) {
  return {{"dataset", dataset.checksum},
          {"model",
           fmt::format("{} of {} layers, hidden {}", job.model.kind, job.model.layers, job.model.hidden)},
          {"seed", std::to_string(job.training.seed)},
          {"split", fmt::format("{}[{}]", job.dataset.split, job.dataset.split_column)},
          {"strategy", job.strategy.row->kind},
          {"manifest", resume_key(job)}};
}

CheckpointState state_of(const RunState& run, const Job& job, const DatasetMeta& dataset, int ranks,
                         const Reached& reached, WholeTensors& tensors) {
  CheckpointState state;
  state.reached = reached;
  state.step = run.optimizer.steps();
  state.seed = job.training.seed;
  state.ranks = ranks;
  state.identity = identity_of(job, dataset);
  run.best.save(state.scalars);
  if (reached.steps > 0) run.epoch.save(state.scalars);
  tensors.add(HostArray(run.parameters.device(), run.parameters.values()), "", false);
  std::vector<Matrix>& moments = run.optimizer.moments();
  for (std::size_t i = 0; i < moments.size(); ++i) tensors.add(HostArray(moments[i]), moment_prefix(i), true);
  if (run.best.epoch() > 0) tensors.add(run.best.weights().data(), "best.", false);
  state.tensors = tensors.tensors();
  return state;
}

void load_state(const LoadedCheckpoint& checkpoint, const Job& job, const DatasetMeta& dataset,
                const RunState& run) {
  check_identity(checkpoint, identity_of(job, dataset));
  const auto read = [&](HostArray values, const std::string& prefix, bool trainable_only) {
    read_held_rows(checkpoint.file, run.parameters, values.data(), prefix, trainable_only);
    values.put();
  };
  read(HostArray(run.parameters.device(), run.parameters.values()), "", false);
  std::vector<Matrix>& moments = run.optimizer.moments();
  for (std::size_t i = 0; i < moments.size(); ++i) read(HostArray(moments[i]), moment_prefix(i), true);
  run.optimizer.set_steps(checkpoint.state.step);
  run.best.load(checkpoint.state.scalars);
  run.epoch.load(checkpoint.state.scalars);
  if (run.best.epoch() > 0) {
    run.best.weights().resize(1, Index(run.parameters.values().size()));
    read(HostArray(run.best.weights()), "best.", false);
  }
}

}  // namespace atl
