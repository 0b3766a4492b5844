// What a topology file's fields may hold. All throw Error naming file and line, what was given and what is
// allowed.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "job/layout.h"
#include "job/yaml.h"

namespace atl {

/// "1gbit", "12GB/s", above 0: bytes a second.
double rate(const Node& node);
/// "35Tflop/s", above 0: operations a second.
double flops(const Node& node);
/// "50us".
double seconds(const Node& node);
double number(const Node& node, double above);
/// 1 … kMostRanks.
int count(const Node& node);
const std::string& text(const Node& node);
/// "[0, 1]"; `what` they are, in the plural.
std::vector<int> places(const Node& node, const char* what);

using Reader = std::function<void(const Node&)>;
using Readers = std::vector<std::pair<std::string, Reader>>;
/// Each entry by its reader, which names the field in what it says; what has none isn't allowed.
void read_map(const Node& node, const Readers& readers);

}  // namespace atl
