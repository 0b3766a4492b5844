// Made by tests/accuracy/effects from docs/benchmarks/effects.json; don't edit.
#include "compare/effects.h"

namespace atl {

// clang-format off
// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<MeasuredSet>& measured_sets() {
  static const std::vector<MeasuredSet> all{
      {"cora", {2708, 10556, 1433, 140},
       {{"pipegcn", -1.00, 0.00, 1, 1.00, 1.00},
        {"pipegcn by hash", 0.60, 0.00, 1, 1.00, 1.00},
        {"bns", -1.10, 0.00, 1, 4.75, 1.00},
        {"bns by hash", -1.00, 0.00, 1, 3.50, 1.00},
        {"sancus", 0.00, 0.00, 1, 1.00, 1.00},
        {"gnnpipe", -0.20, 0.00, 1, 0.75, 1.00},
        {"granndis", -0.80, 0.00, 1, 1.00, 1.00},
        {"minibatch", -1.00, 0.00, 1, 1.00, 1.00},
        {"minibatch:sampler=historical", 0.40, 0.00, 1, 3.75, 1.00},
        {"p3", -0.30, 0.00, 1, 1.00, 1.00},
        {"p3:delay=3", -1.40, 0.00, 1, 13.50, 1.00},
        {"dgs", -1.70, 0.00, 1, 1.00, 1.00}}},
      {"amazon_computers", {13752, 491722, 767, 8251},
       {{"pipegcn", -0.22, 0.00, 1, 0.88, 1.00},
        {"pipegcn by hash", 0.40, 0.00, 1, 0.76, 1.00},
        {"bns", -0.04, 0.00, 1, 1.16, 1.00},
        {"bns by hash", -0.65, 0.00, 1, kNever, 1.00},
        {"sancus", 0.44, 0.00, 1, 1.31, 1.00},
        {"gnnpipe", 0.11, 0.00, 1, 1.10, 1.00},
        {"granndis", 0.18, 0.00, 1, 1.02, 1.00},
        {"minibatch", 0.40, 0.00, 1, 3.17, 1.00},
        {"minibatch:sampler=historical", -0.07, 0.00, 1, 4.75, 1.00},
        {"p3", -0.29, 0.00, 1, 3.50, 1.00},
        {"p3:delay=3", -48.31, 0.00, 1, kNever, 1.00},
        {"dgs", -0.25, 0.00, 1, 5.75, 1.00}}},
      {"musae_facebook", {22470, 341825, 4714, 13482},
       {{"pipegcn", -0.11, 0.00, 1, 0.88, 1.00},
        {"pipegcn by hash", -0.51, 0.00, 1, kNever, 1.00},
        {"bns", -0.20, 0.00, 1, 1.17, 1.00},
        {"bns by hash", -1.11, 0.00, 1, kNever, 1.00},
        {"sancus", -0.02, 0.00, 1, 1.00, 1.00},
        {"gnnpipe", 0.02, 0.00, 1, 1.04, 1.00},
        {"granndis", -0.04, 0.00, 1, 1.08, 1.00},
        {"minibatch", -0.16, 0.00, 1, 3.09, 1.00},
        {"minibatch:sampler=historical", -0.13, 0.00, 1, 6.75, 1.00},
        {"p3", 0.02, 0.00, 1, 3.38, 1.00},
        {"p3:delay=3", -0.02, 0.00, 1, 7.31, 1.00}}},
      {"tolokers", {11758, 1038000, 10, 5879},
       {{"pipegcn", -0.05, 0.00, 1, 0.81, 1.00},
        {"pipegcn by hash", -0.12, 0.00, 1, kNever, 1.00},
        {"bns", 0.01, 0.00, 1, 0.94, 1.00},
        {"bns by hash", 0.00, 0.00, 1, kNever, 1.00},
        {"sancus", -0.28, 0.00, 1, 1.25, 1.00},
        {"gnnpipe", 0.01, 0.00, 1, 0.91, 1.00},
        {"granndis", 0.09, 0.00, 1, 0.96, 1.00},
        {"minibatch", -0.31, 0.00, 1, 3.49, 1.00},
        {"minibatch:sampler=historical", -0.73, 0.00, 1, 6.27, 1.00},
        {"p3", -0.22, 0.00, 1, 3.76, 1.00},
        {"p3:delay=3", -4.98, 0.00, 1, kNever, 1.00},
        {"dgs", -0.22, 0.00, 1, 3.94, 1.00}}},
      {"coauthor_cs", {18333, 163788, 6805, 11000},
       {{"pipegcn", 0.08, 0.00, 1, 0.86, 1.00},
        {"pipegcn by hash", -0.38, 0.00, 1, 0.76, 1.00},
        {"bns", 0.55, 0.00, 1, 0.81, 1.00},
        {"bns by hash", 0.60, 0.00, 1, 0.71, 1.00},
        {"sancus", 0.00, 0.00, 1, 0.95, 1.00},
        {"gnnpipe", 0.11, 0.00, 1, 1.05, 1.00},
        {"granndis", 0.03, 0.00, 1, 0.95, 1.00},
        {"minibatch", 0.22, 0.00, 1, 2.10, 1.00},
        {"minibatch:sampler=historical", 0.44, 0.00, 1, 2.10, 1.00},
        {"p3", 0.08, 0.00, 1, 1.57, 1.00},
        {"p3:delay=3", 0.19, 0.00, 1, 9.69, 1.00}}},
  };
  return all;
}
// clang-format on

const char* measured_model() {
  return "sage";
}

}  // namespace atl
