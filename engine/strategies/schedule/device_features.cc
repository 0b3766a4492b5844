#include "strategies/schedule/device_features.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "tensor/backend.h"
#include "tensor/kernels.h"

namespace atl {
namespace {

constexpr Index kPiece = 65536;  // rows that go to the device at a time

/// The own rows with the most neighbours, the first ones among equals; ascending.
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
  const Index room =
      size == nullptr ? own.rows() : Index(share * double(size())) / (own.cols() * Index(sizeof(Real)));
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

/// Copies `rows` of them to the device, some at a time, as the held ones.
void DeviceFeatures::upload(const Rows& own, std::span<const VertexId> rows) {
  const auto count = Index(rows.size());
  rows_.resize(count, own.cols(), ctx_.device);
  Matrix piece(std::min(count, kPiece), own.cols());
  for (Index begin = 0; begin < count; begin += kPiece) {
    const Index some = std::min(count - begin, kPiece);
    const MatrixView to = piece.view().slice_rows(0, some);
    unpack_rows(*ctx_.pool, own, rows.subspan(std::size_t(begin), std::size_t(some)), to);
    memory_of(ctx_.device)
        .upload(rows_.view().row(begin), to.data, std::size_t(some * own.cols()) * sizeof(Real));
  }
}

void DeviceFeatures::read_hosts(ConstMatrixView own) {
  if (backend().pin == nullptr) return;
  const void* const data = backend().pin(own.data, std::size_t(own.rows * own.row_bytes()));
  if (data == nullptr) return;
  pinned_ = own.data;
  hosts_ = {static_cast<const Real*>(data), own.rows, own.cols};
}

SourcedRows::Input SourcedRows::of(const RowSources& sources, const RowPlaces& places,
                                   const FeatureRows& given) {
  copies_.restart();
  if (!given.is_sparse()) return {dense_of(sources, places, given.dense), {}};
  return {copies_.of(given.rows()), copies_.of(given.self())};
}

ConstMatrixView SourcedRows::dense_of(const RowSources& sources, const RowPlaces& places,
                                      const Matrix& given) {
  const Index here = sources.held.size() + sources.hosts.size(), rows = here + given.rows();
  if (here == 0) return copies_.of(given);
  if (rows_.grow(rows, given.cols(), ctx_.device, true)) ++reallocations_;
  if (sources.order.size() == 0) {
    gather(sources, places, given, rows_);
    return rows_;
  }
  if (parts_.grow(rows, given.cols(), ctx_.device, true)) ++reallocations_;
  gather(sources, places, given, parts_);
  gather_rows(ctx_, parts_, copies_.of(sources.order.span()).data(), rows_);
  return rows_;
}

void SourcedRows::gather(const RowSources& sources, const RowPlaces& places, const Matrix& given,
                         MatrixView out) {
  const Index held = sources.held.size(), hosts = sources.hosts.size();
  if (held > 0)
    gather_rows(ctx_, places.held, copies_.of(sources.held.span()).data(), out.slice_rows(0, held));
  if (hosts > 0)
    gather_rows(ctx_, places.hosts, copies_.of(sources.hosts.span()).data(), out.slice_rows(held, hosts));
  const MatrixView rest = out.slice_rows(held + hosts, given.rows());
  if (!rest.empty()) ctx_.stream->upload(rest.data, given.data(), std::size_t(given.bytes()));
}

}  // namespace atl
