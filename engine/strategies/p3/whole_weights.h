// All parameters on every rank, as exact inference reads them: rows that are with their columns are fetched from the ranks that hold them.
#pragma once

#include "comm/communicator.h"
#include "model/model.h"
#include "sampler/column_share.h"

namespace atl {

class WholeWeights {
 public:
  /// `whole_model`: of all columns. References outlive it.
  WholeWeights(Communicator& comm, const Model& whole_model, const Parameters& held, const ColumnShare& share,
               std::uint64_t seed);

  /// With the held parameters' present values. Collective over the group, as Traffic::kEvaluation.
  void refresh(Context& ctx);
  Parameters& parameters() { return whole_; }
  Index bytes() const;

 private:
  void fetch(Context& ctx, const Parameters::Entry& entry, Real* to);

  Communicator& comm_;
  const Parameters& held_;
  const ColumnShare& share_;
  Parameters whole_;
  Matrix arrived_;  // (1, elements) of one member's rows
  std::vector<Message> sends_, receives_;
};

}  // namespace atl
