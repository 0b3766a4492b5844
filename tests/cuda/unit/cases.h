// One case per kernel of the catalogue: operands of random shapes, and the comparison with the CPU's.
#pragma once

#include "unit/twins.h"

namespace atl::test {

std::vector<NamedCase> product_cases();
std::vector<NamedCase> rowwise_cases();
std::vector<NamedCase> softmax_cases();
std::vector<NamedCase> step_cases();

}  // namespace atl::test
