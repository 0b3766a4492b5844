#include "graph/block.h"

#include "tensor/copies.h"

namespace atl {
namespace {

template <class T>
const T* array(DeviceCopies& copies, const T* host, Index count) {
  return host == nullptr ? nullptr : copies.of(std::span(host, std::size_t(count))).data();
}

}  // namespace

Block on_device(DeviceCopies& copies, const Block& host) {
  Block block = host;
  const bool is_symmetric = host.transpose.offsets == host.arcs.offsets &&
                            host.transpose.rows == host.arcs.rows;  // not a cut of it
  block.arcs = copies.of(host.arcs);
  block.transpose = is_symmetric ? block.arcs : copies.of(host.transpose);
  block.transpose_arc = array(copies, host.transpose_arc, host.transpose.arcs());
  block.dst_scale = array(copies, host.dst_scale, host.dst());
  block.src_scale = array(copies, host.src_scale, host.src());
  block.dst_ids = copies.of(host.dst_ids);
  block.src_ids = copies.of(host.src_ids);
  return block;
}

}  // namespace atl
