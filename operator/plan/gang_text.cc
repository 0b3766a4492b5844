// A gang's plan for a terminal, and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "operator/plan/gang.h"
#include "operator/plan/room.h"

namespace atl::ctl {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// "0–3", or "0, 5" where they aren't consecutive.
std::string ranks_text(const std::vector<Rank>& ranks) {
  if (ranks.size() > 1 && ranks.back() - ranks.front() + 1 == int(ranks.size()))
    return fmt::format("{}–{}", ranks.front(), ranks.back());
  std::string text;
  for (const Rank rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

std::size_t columns_of(const std::string& text) {
  return std::size_t(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string aligned(const Rows& rows) {
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], columns_of(row[c]));
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t c = 0; c < row.size(); ++c)
      line += " " + row[c] + std::string(c + 1 < row.size() ? widths[c] - columns_of(row[c]) + 1 : 0, ' ');
    text += line + "\n";
  }
  return text;
}

Rows table(const GangPlan& plan, const Gang& gang, const Snapshot& snapshot) {
  std::map<std::string, const NodeState*> nodes;
  for (const NodeState& node : snapshot.nodes) nodes[node.name] = &node;
  Rows rows = {{"server", "ranks"}};
  if (!gang.holds.empty()) rows[0].emplace_back("holds");
  for (const auto& level : gang.levels) rows[0].push_back(level_name(level));
  for (std::size_t s = 0; s < plan.nodes.size(); ++s) {
    auto& row = rows.emplace_back(std::vector<std::string>{std::to_string(s), ranks_text(gang.servers[s])});
    if (!gang.holds.empty()) row.push_back(gang.holds[s]);
    for (std::size_t level = 0; level + 1 < gang.levels.size(); ++level) {
      const auto& labels = nodes.at(plan.nodes[s])->labels;
      const auto label = labels.find(gang.levels[level]);
      row.push_back(label == labels.end() ? "–" : label->second);
    }
    row.push_back(plan.nodes[s]);
  }
  return rows;
}

std::string percent_more(double cost, double best) {
  if (best <= 0) return cost <= 0 ? "the same" : "against nothing";
  return cost <= best * (1 + 1e-9) ? "the same" : fmt::format("{:.0f} % less", 100 * (1 - best / cost));
}

std::string costs_text(const GangPlan& plan, const Gang& gang) {
  std::string text =
      fmt::format("  cost {:.4g} (bytes per epoch × weight); ranks in order {:.4g}; on empty nodes: {}\n",
                  plan.cost, plan.in_order_cost, percent_more(plan.cost, plan.best_possible));
  for (std::size_t level = 0; level < gang.levels.size() && !gang.assumed; ++level)
    text += fmt::format("  across {}s: {} per epoch, weight {:g}\n", level_name(gang.levels[level]),
                        bytes_text(plan.level_bytes[level]), gang.weights[level]);
  if (gang.assumed)
    text += "  traffic: assumed equal between all servers (the data set's parts are not known here)\n";
  return text;
}

}  // namespace

std::string to_text(const GangPlan& plan, const Gang& gang, const Snapshot& snapshot) {
  std::string text;
  if (plan.fits) {
    text = fmt::format("{} on {} nodes: {}, launcher on {}\n", gang.job, snapshot.nodes.size(),
                       demand_text(gang), plan.launcher);
    text += aligned(table(plan, gang, snapshot)) + costs_text(plan, gang);
  } else {
    text = fmt::format("{} does not fit\n", gang.job);
  }
  for (const auto& reason : plan.reasons) text += "  " + reason + "\n";
  for (const auto& label : plan.unlabelled)
    text += "  no node has the label " + label + ", so all nodes are one domain of that level\n";
  return text;
}

std::string to_json(const GangPlan& plan, const Gang& gang) {
  nlohmann::json json = {
      {"event", "placement"}, {"job", gang.job}, {"fits", plan.fits}, {"reasons", plan.reasons}};
  json["traffic"] = gang.assumed ? "assumed" : "parts";
  json["servers"] = nlohmann::json::array();
  for (std::size_t s = 0; s < plan.nodes.size(); ++s) {
    nlohmann::json& server = json["servers"].emplace_back();
    server = {{"node", plan.nodes[s]}, {"ranks", gang.servers[s]}};
    if (!gang.holds.empty()) server["holds"] = gang.holds[s];
  }
  if (!plan.fits) return json.dump();
  json["launcher"] = plan.launcher;
  json["cost"] = plan.cost;
  json["inOrderCost"] = plan.in_order_cost;
  json["bestPossibleCost"] = plan.best_possible;
  json["bytesByLevel"] = nlohmann::json::array();
  for (std::size_t level = 0; level < gang.levels.size(); ++level)
    json["bytesByLevel"].push_back(
        {{"level", gang.levels[level]}, {"bytes", plan.level_bytes[level]}, {"weight", gang.weights[level]}});
  return json.dump();
}

}  // namespace atl::ctl
