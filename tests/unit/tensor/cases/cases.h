// One case per kernel of the catalogue: operands of random shapes, of every storage and layout, for the
// kernel and its reference. Each device's tests call them (tests/unit/tensor/catalogue_test.cc,
// tests/cuda/unit).
#pragma once

#include <string_view>

#include "tensor/cases/trial.h"

namespace atl::test {

using KernelCase = void (*)(Trial&, RandomSizes&);
struct NamedCase {
  const char* kernel;
  KernelCase run;
  bool sums = false;  // sums of products, of quarters too: these are exact
};

std::vector<NamedCase> product_cases();
std::vector<NamedCase> rowwise_cases();
std::vector<NamedCase> softmax_cases();
std::vector<NamedCase> step_cases();

/// The kernel's case; without a function where it has none.
NamedCase case_of(std::string_view kernel);
/// Runs a kernel's case with operands of so many seeds, and names the one that fails; sums of quarters too.
void run_case(Context& ctx, std::string_view kernel, unsigned seeds);

/// How much there is to attend to.
struct AttentionShape {
  Index dst, src, width;
  int heads;
};
void attention_add_of(Trial& t, const AttentionShape& shape);
void attention_backward_of(Trial& t, const AttentionShape& shape);

}  // namespace atl::test
