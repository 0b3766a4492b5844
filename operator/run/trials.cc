#include "operator/run/trials.h"

#include "operator/objects/objects.h"
#include "operator/run/kinds.h"

namespace atl::ctl {

std::string fault_of(kube::Client& client, const std::string& pod, const std::string& space) {
  const kube::Answer answer =
      client.create(resource_of(Kind::kPod).path(space), pod, {.dry_run = true, .is_strict = true});
  if (answer) return {};
  const bool is_unknown_field =
      answer.error->code == 400 && answer.error->message.find("strict decoding error") != std::string::npos;
  return is_unknown_field || answer.error->code == 422 ? answer.error->message : "";
}

std::optional<bool> is_secret_gone(kube::Client& client, const std::string& secret, const GnnJob& job) {
  const std::string path = resource_of(Kind::kSecret).path(job.meta.space);
  const kube::Answer answer = client.create(path, empty_secret(job, secret), {.dry_run = true});
  if (answer) return true;
  if (answer.error->already_exists()) return false;
  return {};
}

}  // namespace atl::ctl
