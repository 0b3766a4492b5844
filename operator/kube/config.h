// Which cluster, and as whom: from the pod that we run in, or from a kubeconfig as kubectl reads it.
#pragma once

#include <string>

#include "operator/kube/transport.h"

namespace atl::kube {

struct ClusterConfig {
  std::string server;  // "https://10.96.0.1:443"
  // the namespace that we are in: the pod's, or the context's; "default" where none is stated
  std::string space;
  CredentialSource credentials;
};

/// Where a pod finds its service account.
inline constexpr char kServiceAccount[] = "/var/run/secrets/kubernetes.io/serviceaccount";

/// From the environment variables and files that every pod is given. Token and authority are read again when
/// they change. Throws Error where this is no pod.
ClusterConfig in_cluster_config(const std::string& service_account = kServiceAccount);

/// A kubeconfig's context; "": its current one. Refused by name, with what to do instead: TLS that isn't
/// verified, exec plugins, and whatever else we don't do. Throws Error that names file and line.
ClusterConfig read_kubeconfig(const std::string& path, const std::string& context = "");

/// The first of: `kubeconfig` where it isn't "", $KUBECONFIG, the pod that we run in, ~/.kube/config.
ClusterConfig find_config(const std::string& kubeconfig = "");

// Credentials that lie in files and change while we run: a pod's token lasts an hour, authorities and
// certificates are renewed in place.

/// Paths; "": taken from the text given instead.
struct CredentialPaths {
  std::string ca, certificate, key, token;
};

/// Reads what has paths and fills the rest from `texts`. Later calls of the source read again what has
/// changed, and go on with what there was where that is gone, half written or empty. Throws Error, naming the
/// file, where the first reading fails.
CredentialSource credential_files(const CredentialPaths& paths, const Credentials& texts = {});

}  // namespace atl::kube
