#include "job/other_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "job/models.h"
#include "job/strategies.h"

namespace atl {
namespace {

struct NotBuilt {
  std::string_view path, name;
};

constexpr NotBuilt kNotBuilt[] = {
    {"model.kind", "appnp"},     {"model.kind", "gatv2"},    {"model.kind", "graphtransformer"},
    {"model.kind", "hgt"},       {"model.kind", "mlp"},      {"model.kind", "pna"},
    {"model.kind", "rgat"},      {"model.kind", "rgcn"},     {"model.kind", "sign"},
    {"model.kind", "unimp"},     {"strategy.kind", "ddp"},   {"strategy.kind", "fsdp"},
    {"task", "regression"},      {"task", "noderegression"}, {"task", "graphclassification"},
    {"task", "graphregression"},
};

/// Of a task, which has no row that could say so.
constexpr std::pair<std::string_view, std::string_view> kTasks[] = {
    {"vertexclassification", "nodeClassification"}, {"linkpred", "linkPrediction"}};

bool is_same_but_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, {}, [](unsigned char c) { return std::tolower(c); },
      [](unsigned char c) { return std::tolower(c); });
}

template <class Info>
std::string kind_called(const std::vector<Info>& infos, const std::string& given) {
  for (const Info& info : infos)
    for (const std::string& name : info.also_called)
      if (is_same_but_case(name, given)) return info.kind;
  return "";
}

/// Its name here; "" where it has none.
std::string name_here(const std::string& path, const std::string& given) {
  if (path == "model.kind") return kind_called(model_infos(), given);
  if (path == "strategy.kind") return kind_called(strategy_infos(), given);
  if (path == "task")
    for (const auto& [name, here] : kTasks)
      if (is_same_but_case(name, given)) return std::string(here);
  return "";
}

}  // namespace

std::string other_name(const std::string& path, const std::string& given) {
  if (const std::string here = name_here(path, given); !here.empty())
    return fmt::format("did you mean {}?", here);
  for (const NotBuilt& other : kNotBuilt)
    if (other.path == path && is_same_but_case(other.name, given))
      return fmt::format("{} isn't built;", other.name);
  return "";
}

}  // namespace atl
