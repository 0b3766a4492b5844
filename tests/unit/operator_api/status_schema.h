// Checks a status against the CustomResourceDefinition, as the API server would.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace atl::ctl {

/// `status`: JSON, as it is written. A failure names each member that the definition doesn't allow.
testing::AssertionResult is_allowed_status(const std::string& status);

}  // namespace atl::ctl
