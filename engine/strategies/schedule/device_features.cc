#include "strategies/schedule/device_features.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "tensor/backend.h"
#include "tensor/kernels.h"

namespace atl {
namespace {

constexpr Index kPiece = 65536;  // rows that go to the device at a time

/// The `count` own rows with the most neighbours, ascending. Of rows with equally many, it takes the first
/// ones.
std::vector<VertexId> most_read(const BatchGraph& graph, Rank rank, Index count) {
  const Index first = graph.owners.first_row(rank);
  std::vector<VertexId> rows(std::size_t(graph.owners.rows(rank)));
  std::iota(rows.begin(), rows.end(), VertexId(0));
  std::ranges::nth_element(rows, rows.begin() + count, [&](VertexId a, VertexId b) {
    const double of_a = graph.training.degree(VertexId(first + a)),
                 of_b = graph.training.degree(VertexId(first + b));
    return of_a != of_b ? of_a > of_b : a < b;
  });
  rows.resize(std::size_t(count));
  std::ranges::sort(rows);
  return rows;
}

}  // namespace

DeviceFeatures::DeviceFeatures(Context& ctx, const BatchGraph& graph, Rank rank, double share)
    : ctx_(ctx), sourced_(ctx) {
  const Rows& own = graph.features;
  if (ctx.device != Device::kCuda || own.rows() == 0 || own.cols() == 0 || graph.sparse) return;
  const auto size = backend().bytes;
  const Index row_bytes = own.packed() ? own.cols() * Index(sizeof(Real)) : own.dense.row_bytes();
  const Index room = size == nullptr ? own.rows() : Index(share * double(size())) / row_bytes;
  if (room >= own.rows()) {
    hold_all(own);
  } else {
    if (room > 0) hold_some(graph, rank, room);
    if (!own.packed()) read_hosts(own.dense);
  }
}

DeviceFeatures::~DeviceFeatures() {
  if (pinned_ != nullptr) backend().unpin(pinned_);
}

void DeviceFeatures::hold_all(const Rows& own) {
  held_.resize(std::size_t(own.rows()));
  std::iota(held_.begin(), held_.end(), VertexId(0));
  is_whole_ = true;
  upload(own, held_);
}

void DeviceFeatures::hold_some(const BatchGraph& graph, Rank rank, Index count) {
  const std::vector<VertexId> chosen = most_read(graph, rank, count);
  held_.assign(std::size_t(graph.features.rows()), DevicePlaces::kElsewhere);
  for (std::size_t i = 0; i < chosen.size(); ++i) held_[std::size_t(chosen[i])] = VertexId(i);
  upload(graph.features, chosen);
}

/// Copies the given own rows to the device, kPiece at a time. They become the held ones.
void DeviceFeatures::upload(const Rows& own, std::span<const VertexId> rows) {
  const Index count = Index(rows.size()), cols = own.cols();
  const Storage storage = own.dense.storage();  // Reals, if rows are packed
  memory_.resize(1, reals_of(count * cols, storage), ctx_.device);
  rows_ = MatrixView(memory_.data(), count, cols, storage);
  Matrix piece(1, reals_of(std::min(count, kPiece) * cols, storage));
  for (Index begin = 0; begin < count; begin += kPiece) {
    const Index some = std::min(count - begin, kPiece);
    const MatrixView to(piece.data(), some, cols, storage);
    unpack_rows(*ctx_.pool, own, rows.subspan(std::size_t(begin), std::size_t(some)), to);
    memory_of(ctx_.device).upload(row_of(rows_, begin), to.address(), std::size_t(some * to.row_bytes()));
  }
}

void DeviceFeatures::read_hosts(ConstMatrixView own) {
  if (backend().pin == nullptr) return;
  const void* const data = backend().pin(own.address(), std::size_t(own.rows * own.row_bytes()));
  if (data == nullptr) return;
  pinned_ = own.address();
  hosts_ = own.halves != nullptr ? ConstMatrixView(static_cast<const Bfloat16*>(data), own.rows, own.cols)
                                 : ConstMatrixView(static_cast<const Real*>(data), own.rows, own.cols);
}

SourcedRows::Input SourcedRows::of(const RowSources& sources, const RowPlaces& places,
                                   const FeatureRows& given) {
  copies_.restart();
  if (!given.is_sparse()) return {dense_of(sources, places, given), {}};
  return {copies_.of(given.rows()), copies_.of(given.self())};
}

ConstMatrixView SourcedRows::dense_of(const RowSources& sources, const RowPlaces& places,
                                      const FeatureRows& given) {
  const ConstMatrixView others = given.dense_rows();
  const Index here = sources.held.size() + sources.hosts.size(), rows = here + others.rows;
  if (here == 0) return copies_.of(others);
  const MatrixView all = room_in(memory_, rows, others.cols, given.storage());
  if (sources.order.size() == 0) {
    gather(sources, places, others, all);
    return all;
  }
  const MatrixView parts = room_in(parts_, rows, others.cols, given.storage());
  gather(sources, places, others, parts);
  gather_rows(ctx_, parts, copies_.of(sources.order.span()).data(), all);
  return all;
}

MatrixView SourcedRows::room_in(Matrix& memory, Index rows, Index cols, Storage storage) {
  if (memory.grow(1, reals_of(rows * cols, storage), ctx_.device, true)) ++reallocations_;
  return {memory.data(), rows, cols, storage};
}

void SourcedRows::gather(const RowSources& sources, const RowPlaces& places, ConstMatrixView given,
                         MatrixView out) {
  const Index held = sources.held.size(), hosts = sources.hosts.size();
  if (held > 0)
    gather_rows(ctx_, places.held, copies_.of(sources.held.span()).data(), out.slice_rows(0, held));
  if (hosts > 0)
    gather_rows(ctx_, places.hosts, copies_.of(sources.hosts.span()).data(), out.slice_rows(held, hosts));
  const MatrixView rest = out.slice_rows(held + hosts, given.rows);
  if (!rest.empty())
    ctx_.stream->upload(row_of(rest, 0), given.address(), std::size_t(given.rows * given.row_bytes()));
}

}  // namespace atl
