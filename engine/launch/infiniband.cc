#include "launch/infiniband.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <vector>

namespace atl {
namespace {

namespace fs = std::filesystem;

/// Empty where there is no such folder, or it may not be read.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code no;
  for (const auto& entry : fs::directory_iterator(folder, no)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::string infiniband_text(const fs::path& devices, const fs::path& opened) {
  const auto names = names_in(devices);
  if (names.empty()) return {};
  const bool may_use = std::ranges::any_of(
      names_in(opened), [](const std::string& name) { return name.starts_with("uverbs"); });
  if (may_use) return fmt::format("InfiniBand: this pod may use it; the node has {}", fmt::join(names, ", "));
  return fmt::format(
      "InfiniBand: the node has {}, but this pod has no {}/uverbs*, so NCCL uses TCP (ask for the resource of "
      "the node's RDMA device plugin in template)",
      fmt::join(names, ", "), opened.string());
}

}  // namespace atl
