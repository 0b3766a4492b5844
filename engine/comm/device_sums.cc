#include "comm/device_sums.h"

#include "tensor/copies.h"

namespace atl {

void all_reduce(Context& ctx, Communicator& comm, Traffic purpose, std::span<double> values) {
  all_reduce(ctx, comm, purpose, RankGroup(comm, {}), values);
}

void all_reduce(Context& ctx, Communicator& comm, Traffic purpose, const RankGroup& group,
                std::span<double> values) {
  if (memory_of(ctx.device).is_hosts) return comm.all_reduce(purpose, group, values);
  if (group.size() == 1 || values.empty()) return;
  std::vector<double> host = read(ctx, std::span<const double>(values));
  comm.all_reduce(purpose, group, std::span(host));
  ctx.stream->upload(values.data(), host.data(), values.size_bytes());
}

}  // namespace atl
