// Readers of a topology file's fields. All throw Error, which names file and line, what was given and what is
// allowed.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "job/layout.h"
#include "job/yaml.h"

namespace atl {

/// Bytes per second, above 0: "1gbit", "12GB/s".
double rate(const Node& node);
/// Operations per second, above 0: "35Tflop/s".
double flops(const Node& node);
/// Seconds: "50us".
double seconds(const Node& node);
double number(const Node& node, double above);
/// 1 … kMostRanks.
int count(const Node& node);
const std::string& text(const Node& node);
/// A list of places, "[0, 1]"; `what` names them in the plural, for errors.
std::vector<int> places(const Node& node, const char* what);

using Reader = std::function<void(const Node&)>;
using Readers = std::vector<std::pair<std::string, Reader>>;
/// Reads each entry by its reader, which names the field in errors; entries without a reader aren't allowed.
void read_map(const Node& node, const Readers& readers);

}  // namespace atl
