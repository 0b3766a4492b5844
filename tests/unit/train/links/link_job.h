// Jobs of link prediction over a small data set.
#pragma once

#include "train/every_model.h"

namespace atl {

/// The case with task linkPrediction, and further fields.
inline Job link_job(const SmallCase& c, int ranks, const std::vector<std::string>& more = {}) {
  std::vector<std::string> fields = c.fields;
  fields.insert(fields.end(), more.begin(), more.end());
  fields.insert(fields.end(), {"task=linkPrediction", "placement.ranks=" + std::to_string(ranks)});
  return small_job(fields);
}

/// Every model, in turn with each decoder.
inline std::vector<SmallCase> every_link_model() {
  std::vector<SmallCase> all = every_model();
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].data.edges = true;
    all[i].data.labelled = false, all[i].data.split = false;
    all[i].data.arc_share = 0.1;
    if (i % 2 == 0) all[i].fields.push_back("linkPrediction={decoder: mlp, negatives: 2}");
  }
  return all;
}

}  // namespace atl
