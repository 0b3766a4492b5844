#include "strategies/schedule/device_features.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "tensor/backend.h"
#include "tensor/kernels.h"

namespace atl {
namespace {

constexpr Index kPiece = 65536;  // rows that are sent to the device together

/// Of own rows those with the most neighbours, of equals the first ones; ascending.
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
  const ConstMatrixView own = graph.features;
  if (ctx.device != Device::kCuda || own.empty()) return;
  const auto size = backend().bytes;
  const Index room = size == nullptr ? own.rows : Index(share * double(size())) / own.row_bytes();
  if (room >= own.rows) {
    hold_all(own);
  } else {
    if (room > 0) hold_some(graph, rank, room);
    read_hosts(own);
  }
}

DeviceFeatures::~DeviceFeatures() {
  if (pinned_ != nullptr) backend().unpin(pinned_);
}

void DeviceFeatures::hold_all(ConstMatrixView own) {
  held_.resize(std::size_t(own.rows));
  std::iota(held_.begin(), held_.end(), VertexId(0));
  is_whole_ = true;
  rows_.resize(own.rows, own.cols, ctx_.device);
  memory_of(ctx_.device).upload(rows_.data(), own.data, std::size_t(rows_.bytes()));
}

void DeviceFeatures::hold_some(const BatchGraph& graph, Rank rank, Index count) {
  const ConstMatrixView own = graph.features;
  const std::vector<VertexId> chosen = most_read(graph, rank, count);
  held_.assign(std::size_t(own.rows), DevicePlaces::kElsewhere);
  rows_.resize(count, own.cols, ctx_.device);
  Matrix piece(std::min(count, kPiece), own.cols);
  for (Index begin = 0; begin < count; begin += kPiece) {
    const Index rows = std::min(count - begin, kPiece);
    for (Index i = 0; i < rows; ++i) {
      const VertexId row = chosen[std::size_t(begin + i)];
      held_[std::size_t(row)] = VertexId(begin + i);
      std::copy_n(own.row(row), own.cols, piece.view().row(i));
    }
    memory_of(ctx_.device).upload(rows_.view().row(begin), piece.data(), std::size_t(rows * own.row_bytes()));
  }
}

void DeviceFeatures::read_hosts(ConstMatrixView own) {
  if (backend().pin == nullptr) return;
  const void* const data = backend().pin(own.data, std::size_t(own.rows * own.row_bytes()));
  if (data == nullptr) return;
  pinned_ = own.data;
  hosts_ = {static_cast<const Real*>(data), own.rows, own.cols};
}

ConstMatrixView SourcedRows::of(const RowSources& sources, const RowPlaces& places, const Matrix& given) {
  copies_.restart();
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
