// Options of a strategy that were given and do nothing: what a rule needs to say so.
#pragma once

#include <string>

#include "job/field.h"
#include "job/rule.h"

namespace atl {

/// A resolved manifest has every option, so that the default of one is no wish for it.
bool is_wished(const Check& check, const Field& option);

/// Warns where the option is wished for. path: of one of the job's strategy; why: "without smoothing".
void warn_without_effect(const Check& check, const std::string& path, const std::string& why);

/// Of a strategy that is another one where there is one rank, because nothing is another rank's then: says so.
void warn_of_one_rank(const Check& check, const std::string& kind, const std::string& other);

}  // namespace atl
