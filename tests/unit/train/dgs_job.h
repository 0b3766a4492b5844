// Jobs of strategy `dgs` over a small data set.
#pragma once

#include "train/every_model.h"

namespace atl {

/// The case on `ranks` with masks that change every four steps; three steps an epoch. `more` are further fields.
inline Job dgs_job(const SmallCase& c, int ranks, std::vector<std::string> more = {}) {
  std::vector<std::string> fields = c.fields;
  std::string list;
  for (int layers = gathering_layers(small_job(fields).model); layers > 0; --layers)
    list += list.empty() ? "2" : ", 2";
  fields.insert(fields.end(), {"strategy.kind=dgs", "strategy.dgs.fanout=[" + list + "]",
                               "strategy.dgs.batchSize=7", "strategy.dgs.explainEvery=4",
                               "strategy.dgs.explainEpochs=5", fmt::format("placement.ranks={}", ranks)});
  fields.insert(fields.end(), more.begin(), more.end());
  return small_job(fields);
}

}  // namespace atl
