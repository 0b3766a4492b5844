#include "operator/plan/volumes.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "operator/plan/json_members.h"
#include "operator/plan/room.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

/// The claim that a pod's volume names, or "".
std::string claim_of(const json& volume) {
  return text_of(member(volume, "persistentVolumeClaim"), "claimName");
}

void add_claim(const std::string& source, Mounters mounters, std::vector<GangVolume>& all) {
  if (source.empty()) return;
  if (const std::string claim = claim_of(parse_json(source)); !claim.empty())
    all.push_back({claim, mounters});
}

/// "zone a", or the rule as it is written.
std::string text_of(const LabelRule& rule) {
  if (rule.comparison != "In" || rule.values.empty()) return text(rule);
  const std::string level = rule.of_name ? "node" : level_name(rule.key);
  return fmt::format("{} {}", level, joined(rule.values, " or "));
}

std::string text_of(const NodeTerms& terms) {
  std::vector<std::string> ways;
  for (const auto& term : terms) {
    std::vector<std::string> rules;
    for (const LabelRule& rule : term) rules.push_back(text_of(rule));
    ways.push_back(joined(rules, ", "));
  }
  return joined(ways, " or ");
}

NodeTerms found_in(const std::map<std::string, NodeTerms>& all, const std::string& name) {
  const auto found = all.find(name);
  return found == all.end() ? NodeTerms{} : found->second;
}

}  // namespace

std::vector<GangVolume> volumes_of(const Job& job) {
  std::vector<GangVolume> all;
  add_claim(job.dataset.volume, Mounters::kServers, all);
  add_claim(job.dataset.prepared, Mounters::kServers, all);
  // An MPIJob has one template for all its workers.
  const bool is_mpi_job = job.launcher == Launcher::kMpiJob;
  add_claim(job.output.volume, is_mpi_job ? Mounters::kServers : Mounters::kFirstServer, all);
  if (job.template_.empty()) return all;
  const json given = parse_json(job.template_);
  for (const json& volume : member(member(given, "spec"), "volumes"))
    if (const std::string claim = claim_of(volume); !claim.empty()) all.push_back({claim, Mounters::kAll});
  return all;
}

std::string text_of(const GangVolume& volume) {
  return fmt::format("volume claim {} is bound to {}", volume.claim, text_of(volume.place.terms));
}

std::string fault_of(const GangVolume& volume, std::size_t servers) {
  if (!volume.place.problem.empty()) return volume.place.problem;
  const std::size_t pods = volume.mounters == Mounters::kAll       ? servers + 1
                           : volume.mounters == Mounters::kServers ? servers
                                                                   : 1;
  if (!volume.place.is_of_one_pod || pods <= 1) return {};
  return fmt::format(
      "volume claim {} is ReadWriteOncePod: one pod can mount it, and {} pods of the job are to (use a claim "
      "that is ReadWriteMany)",
      volume.claim, pods);
}

ClaimState claim_state(const json& claim) {
  const json& spec = member(claim, "spec");
  const json& modes = member(spec, "accessModes");
  const bool is_of_one_pod = modes.is_array() && modes.size() == 1 && text_of(modes[0]) == "ReadWriteOncePod";
  return {text_of(spec, "volumeName"), text_of(spec, "storageClassName"), is_of_one_pod};
}

NodeTerms nodes_of_volume(const json& volume) {
  return node_terms(member(member(member(volume, "spec"), "nodeAffinity"), "required"));
}

NodeTerms nodes_of_class(const json& storage_class) {
  NodeTerms terms;
  if (text_of(storage_class, "volumeBindingMode") != "WaitForFirstConsumer") return terms;
  for (const json& topology : member(storage_class, "allowedTopologies")) {
    auto& rules = terms.emplace_back();
    for (const json& rule : member(topology, "matchLabelExpressions"))
      rules.push_back({text_of(rule, "key"), "In", texts_of(member(rule, "values")), false});
  }
  return terms;
}

ClaimPlace Storage::place_of(const std::string& claim) const {
  const auto found = claims.find(claim);
  if (found == claims.end()) return {};
  const ClaimState& state = found->second;
  return {state.volume.empty() ? found_in(classes, state.storage_class) : found_in(volumes, state.volume), "",
          state.is_of_one_pod};
}

}  // namespace atl::ctl
