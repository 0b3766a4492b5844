#include "strategies/schedule/sourced_rows.h"

#include "tensor/kernels.h"

namespace atl {

ConstMatrixView SourcedRows::of(const RowSources& sources, const RowPlaces& places, const Matrix& given) {
  copies_.restart();
  const Index here = sources.held.size() + sources.hosts.size(), rows = here + given.rows();
  if (here == 0) return copies_.of(given);
  if (rows_.grow(rows, given.cols(), ctx_.device, true)) ++growths_;
  if (sources.order.size() == 0) {
    gather(sources, places, given, rows_);
    return rows_;
  }
  if (parts_.grow(rows, given.cols(), ctx_.device, true)) ++growths_;
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
