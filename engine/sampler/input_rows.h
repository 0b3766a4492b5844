// Whole rows of the input features for exact inference, where they don't lie with the rows' owners.
#pragma once

#include "sampler/batch.h"
#include "tensor/matrix.h"

namespace atl {

class InputRows {
 public:
  virtual ~InputRows() = default;
  /// out (batch.rows().size(), F), in the host's memory, grows where it must. Collective: every rank makes the same calls.
  virtual void fetch(const Batch& batch, Matrix& out) = 0;
  /// Held beside `out`.
  virtual Index bytes() const = 0;
};

}  // namespace atl
