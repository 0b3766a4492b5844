#include "command/plan_nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "command/command_line.h"
#include "operator/objects/demand.h"
#include "operator/objects/names.h"
#include "operator/objects/template.h"

namespace atl {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  if (!stream)
    fail("--nodes: {}: can't be read: {}; make it with `kubectl get nodes,pods,pvc,pv,sc -A -o json`",
         file.string(), std::strerror(errno));
  return text;
}

/// As the operator sees it, with the settings that it has where nobody says otherwise.
ctl::Gang gang_of(const Job& job, const std::optional<std::vector<PairBytes>>& flows,
                  const ctl::Storage& storage) {
  ctl::Gang gang = ctl::gang_of(job, flows);
  ctl::GnnJob object;
  object.meta.name = job.name;
  object.meta.space = gang.job.substr(0, gang.job.find('/'));
  object.job = job;
  object.status.keys = ctl::kNoKeysYet;
  // Of a manifest for one machine: volumes take no room.
  if (object.job->dataset.volume.empty()) object.job->dataset.volume = R"({"emptyDir": {}})";
  ctl::count_pods(object, {}, gang);
  for (ctl::GangVolume& volume : gang.volumes)
    volume.place = storage.place_of(object.meta.space + "/" + volume.claim);
  return gang;
}

}  // namespace

int plan_on_nodes(const Job& job, const std::filesystem::path& nodes,
                  const std::optional<std::vector<PairBytes>>& flows, bool json) {
  const ctl::Snapshot snapshot = ctl::read_snapshot(text_of(nodes), nodes.string());
  // What is allowed there only that cluster's operator knows, and the plan is the same.
  const ctl::Settings settings{.allowed = ctl::guarded_features()};
  if (const auto faults = ctl::template_faults(job, settings); !faults.empty())
    fail("{}", fmt::join(faults, "\n"));
  const ctl::Gang gang = gang_of(job, flows, snapshot.storage);
  const ctl::GangPlan plan = ctl::plan_gang(gang, snapshot);
  std::fputs(json ? (to_json(plan, gang) + "\n").c_str() : to_text(plan, gang, snapshot).c_str(), stdout);
  return plan.fits ? 0 : kStatusFailed;
}

}  // namespace atl
