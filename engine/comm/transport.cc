// The default for transports without device sums: nobody asks them for one.
#include "comm/transports.h"

#include "base/error.h"

namespace atl {

Pending& Transport::start_sum(int slot, std::span<Real> values) {
  ATOLL_CHECK(false, "{} has no sums on devices (of {} values, in slot {})", name(), values.size(), slot);
}

}  // namespace atl
