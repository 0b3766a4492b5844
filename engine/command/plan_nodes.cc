#include "command/plan_nodes.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "command/command_line.h"
#include "operator/plan/gang.h"

namespace atl {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  if (!stream)
    fail("--nodes: {}: can't be read: {}; make it with `kubectl get nodes,pods -A -o json`", file.string(),
         std::strerror(errno));
  return text;
}

}  // namespace

int plan_on_nodes(const Job& job, const std::filesystem::path& nodes,
                  const std::optional<std::vector<PairBytes>>& flows, bool json) {
  const ctl::Snapshot snapshot = ctl::read_snapshot(text_of(nodes), nodes.string());
  const ctl::Gang gang = ctl::gang_of(job, flows);
  const ctl::GangPlan plan = ctl::plan_gang(gang, snapshot);
  std::fputs(json ? (to_json(plan, gang) + "\n").c_str() : to_text(plan, gang, snapshot).c_str(), stdout);
  return plan.fits ? 0 : kStatusFailed;
}

}  // namespace atl
