#include "operator/run/read_again.h"

#include <nlohmann/json.hpp>

#include "operator/controller/read_object.h"
#include "operator/objects/mpi_job.h"
#include "operator/run/kinds.h"

namespace atl::ctl {
namespace {

void take_out(Observed& seen, const Outdated& object) {
  const auto has_name = [&](const auto& view) { return view.meta.name == object.name; };
  if (object.kind == Kind::kPod)
    std::erase_if(seen.pods, has_name);
  else
    std::erase_if(seen.objects,
                  [&](const ObjectView& view) { return view.kind == object.kind && has_name(view); });
}

}  // namespace

std::optional<std::vector<Reread>> read_again(kube::Client& client, const std::string& space,
                                              const std::vector<Outdated>& outdated) {
  std::vector<Reread> all;
  for (const Outdated& object : outdated) {
    try {
      kube::Answer answer = client.get(resource_of(object.kind).path(space, object.name));
      if (!answer && !answer.error->is_not_found()) return {};
      all.push_back({object, answer ? std::optional(std::move(answer.object)) : std::nullopt});
    } catch (const kube::TransportError&) {
      return {};
    }
  }
  return all;
}

bool put_in(Observed& seen, const Reread& reread) {
  const auto& [object, text] = reread;
  if (object.kind == Kind::kJob) {
    if (text) seen.job = read_gnn_job(*text);
    return text.has_value();
  }
  take_out(seen, object);
  if (text && object.kind == Kind::kPod) seen.pods.push_back(adopted(read_pod(*text)));
  if (text && object.kind != Kind::kPod)
    seen.objects.push_back(read_object(object.kind, nlohmann::json::parse(*text, nullptr, false)));
  return true;
}

}  // namespace atl::ctl
