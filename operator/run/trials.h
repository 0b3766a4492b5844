// What the API server would say of an object, asked by dry runs: nothing is made.
#pragma once

#include <optional>
#include <string>

#include "operator/api/gnnjob.h"
#include "operator/kube/client.h"

namespace atl::ctl {

/// What is wrong with the pod, in the server's words, or "". What another pod may be refused for as well, quota or admission,
/// or another day, isn't its fault.
std::string fault_of(kube::Client& client, const std::string& pod, const std::string& space);

/// Tells without the right to read it: gone, if a Secret of that name could be made; there, if it exists already. Nothing: the
/// server says neither.
std::optional<bool> is_secret_gone(kube::Client& client, const std::string& secret, const GnnJob& job);

}  // namespace atl::ctl
