// Made by tests/accuracy/effects from docs/benchmarks/effects.json; don't edit.
#include "plan/compare/effects_table.h"

namespace atl {

// clang-format off
// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<MeasuredSet>& measured_sets() {
  static const std::vector<MeasuredSet> all{
      {"cora", {2708, 10556, 1433, 140},
       {{"pipegcn", -1.00, 0.00, 1.00},
        {"pipegcn by hash", 0.60, 0.00, 1.00},
        {"bns", -1.10, 0.00, 4.75},
        {"bns by hash", -1.00, 0.00, 3.50},
        {"sancus", 0.00, 0.00, 1.00},
        {"gnnpipe", -0.20, 0.00, 0.75},
        {"granndis", -0.80, 0.00, 1.00},
        {"minibatch", -1.20, 0.00, 1.00},
        {"minibatch:sampler=historical", 0.40, 0.00, 3.75},
        {"p3", -0.30, 0.00, 1.00},
        {"p3:delay=3", -1.40, 0.00, 13.50},
        {"dgs", -2.20, 0.00, 1.00}}},
      {"amazon_computers", {13752, 491722, 767, 8251},
       {{"pipegcn", -0.22, 0.00, 0.88},
        {"pipegcn by hash", 0.40, 0.00, 0.76},
        {"bns", -0.04, 0.00, 1.16},
        {"bns by hash", -0.65, 0.00, kNever},
        {"sancus", 0.44, 0.00, 1.31},
        {"gnnpipe", 0.11, 0.00, 1.10},
        {"granndis", 0.18, 0.00, 1.02},
        {"minibatch", -0.84, 0.00, kNever},
        {"minibatch:sampler=historical", -0.40, 0.00, kNever},
        {"p3", -0.44, 0.00, kNever},
        {"p3:delay=3", -55.73, 0.00, kNever},
        {"dgs", -1.49, 0.00, kNever}}},
      {"musae_facebook", {22470, 341825, 4714, 13482},
       {{"pipegcn", -0.11, 0.00, 0.88},
        {"pipegcn by hash", -0.51, 0.00, kNever},
        {"bns", -0.20, 0.00, 1.17},
        {"bns by hash", -1.11, 0.00, kNever},
        {"sancus", -0.02, 0.00, 1.00},
        {"gnnpipe", 0.02, 0.00, 1.04},
        {"granndis", -0.04, 0.00, 1.08},
        {"minibatch", -0.22, 0.00, 3.09},
        {"minibatch:sampler=historical", -0.47, 0.00, kNever},
        {"p3", -0.02, 0.00, 3.38},
        {"p3:delay=3", -1.02, 0.00, kNever}}},
      {"tolokers", {11758, 1038000, 10, 5879},
       {{"pipegcn", -0.05, 0.00, 0.81},
        {"pipegcn by hash", -0.12, 0.00, kNever},
        {"bns", 0.01, 0.00, 0.94},
        {"bns by hash", 0.00, 0.00, kNever},
        {"sancus", -0.28, 0.00, 1.25},
        {"gnnpipe", 0.01, 0.00, 0.91},
        {"granndis", 0.09, 0.00, 0.96},
        {"minibatch", -3.14, 0.00, kNever},
        {"minibatch:sampler=historical", -2.92, 0.00, kNever},
        {"p3", -2.52, 0.00, kNever},
        {"p3:delay=3", -10.12, 0.00, kNever},
        {"dgs", -3.21, 0.00, kNever}}},
      {"coauthor_cs", {18333, 163788, 6805, 11000},
       {{"pipegcn", 0.08, 0.00, 0.86},
        {"pipegcn by hash", -0.38, 0.00, 0.76},
        {"bns", 0.55, 0.00, 0.81},
        {"bns by hash", 0.60, 0.00, 0.71},
        {"sancus", 0.00, 0.00, 0.95},
        {"gnnpipe", 0.11, 0.00, 1.05},
        {"granndis", 0.03, 0.00, 0.95},
        {"minibatch", 0.05, 0.00, 2.10},
        {"minibatch:sampler=historical", 0.38, 0.00, 2.10},
        {"p3", 0.14, 0.00, 1.57}}},
  };
  return all;
}
// clang-format on

}  // namespace atl
