// A plan's section on its strategy, for tests.
#pragma once

#include <stdexcept>

#include "plan/strategy_plan.h"

namespace atl {

/// Throws where the plan has another strategy's section, or none.
template <class Section>
const Section& section_of(const JobPlan& plan) {
  const auto* const section = dynamic_cast<const Section*>(plan.section.get());
  if (section == nullptr) throw std::runtime_error("the plan has no such section");
  return *section;
}

}  // namespace atl
