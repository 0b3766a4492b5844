// --strategies of `atoll bench strategies`: kinds, each with its options behind it, as changes of a manifest.
#pragma once

#include <string>
#include <vector>

namespace atl {

struct ListedStrategy {
  std::string label;   // as given: "pipegcn:smoothing=both:decay=0.9"
  std::string kind;    // "pipegcn"
  std::string change;  // of the manifest: "strategy={kind: pipegcn, pipegcn: {smoothing: both, decay: 0.9}}"
};

/// Of "graph:overlap=false,pipegcn". What isn't an option of the kind is one of all strategies ("wire=bfloat16"). Throws Error
/// where an entry is empty or an option has no value; kinds and options are checked with the manifest.
std::vector<ListedStrategy> read_strategy_list(const std::string& text);

}  // namespace atl
