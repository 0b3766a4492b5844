// Made by tests/accuracy/effects from docs/benchmarks/effects.json; don't edit.
#include "plan/compare/effects_table.h"

namespace atl {

const std::vector<MeasuredSet>& measured_sets() {
  static const std::vector<MeasuredSet> all{
      {"cora",
       2708,
       10556,
       1433,
       {{"pipegcn", -1.00, 0.00, 1.00},
        {"bns", -1.10, 0.00, 4.75},
        {"sancus", 0.00, 0.00, 1.00},
        {"gnnpipe", -0.20, 0.00, 0.75},
        {"granndis", -0.80, 0.00, 1.00},
        {"minibatch", -1.20, 0.00, 1.00},
        {"p3", -0.30, 0.00, 1.00},
        {"p3:delay=3", -1.40, 0.00, 13.50},
        {"dgs", -2.20, 0.00, 1.00}}},
      {"musae_facebook",
       22470,
       341825,
       4714,
       {{"pipegcn", -0.11, 0.00, 0.88},
        {"bns", -0.20, 0.00, 1.17},
        {"sancus", -0.02, 0.00, 1.00},
        {"gnnpipe", 0.02, 0.00, 1.04},
        {"granndis", -0.04, 0.00, 1.08},
        {"minibatch", -0.22, 0.00, 3.09}}},
  };
  return all;
}

}  // namespace atl
