// Where a device finds the input features of a batch: rows in its own memory, rows that it reads in the host's, and those that the
// host gives it with the batch.
#pragma once

#include <span>

#include "base/recycled.h"

namespace atl {

/// Of a rank's own rows. Views.
struct DevicePlaces {
  std::span<const VertexId>
      held{};  // (owned) the row's place in the device's memory, or kElsewhere; empty: no row lies there
  bool reads_hosts = false;  // the device itself reads the others; otherwise the host gives them

  static constexpr VertexId kElsewhere = -1;
  bool empty() const { return held.empty() && !reads_hosts; }
};

/// Of a batch's rows.
struct RowSources {
  Recycled<VertexId> held;   // places in the device's memory
  Recycled<VertexId> hosts;  // own rows, from 0, that the device reads in the host's memory
  Recycled<VertexId>
      order;  // (rows) each row's place among held, hosts and given ones; empty: they are in order

  Index growths() const { return held.growths() + hosts.growths() + order.growths(); }
};

}  // namespace atl
