// Which cluster to use, and as whom: from the pod that we run in, or from a kubeconfig as kubectl reads it.
#pragma once

#include <string>

#include "operator/kube/transport.h"

namespace atl::kube {

struct ClusterConfig {
  std::string server;  // "https://10.96.0.1:443"
  // our namespace: the pod's, or the context's; "default" where none is given
  std::string space;
  CredentialSource credentials;
};

/// Where a pod finds its service account.
inline constexpr char kServiceAccount[] = "/var/run/secrets/kubernetes.io/serviceaccount";

/// From the environment variables and files that every pod has. Token and authority are read again when they
/// change. Throws Error outside a pod.
ClusterConfig in_cluster_config(const std::string& service_account = kServiceAccount);

/// A kubeconfig's context; "": its current one. Throws Error, which names file and line. It refuses what we
/// don't support by name, with what to do instead: unverified TLS, exec plugins and others.
ClusterConfig read_kubeconfig(const std::string& path, const std::string& context = "");

/// The first of: `kubeconfig` where it isn't "", $KUBECONFIG, the pod that we run in, ~/.kube/config.
ClusterConfig find_config(const std::string& kubeconfig = "");

// Credentials in files, which change while we run: a pod's token lasts an hour; authorities and certificates
// are renewed in place.

/// Paths; "": taken from the text instead.
struct CredentialPaths {
  std::string ca, certificate, key, token;
};

/// Reads what has a path, and takes the rest from `texts`. Later calls read changed files again, and keep the
/// earlier text where a file is gone, half written or empty. Throws Error, which names the file, where the
/// first reading fails.
CredentialSource credential_files(const CredentialPaths& paths, const Credentials& texts = {});

}  // namespace atl::kube
