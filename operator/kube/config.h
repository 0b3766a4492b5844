// Which cluster to use, and with which credentials: those of the pod that we run in, or of a kubeconfig, read
// as kubectl reads it.
#pragma once

#include <string>

#include "operator/kube/transport.h"

namespace atl::kube {

struct ClusterConfig {
  std::string server;  // "https://10.96.0.1:443"
  // our namespace: the pod's, or the context's; "default" if neither names one
  std::string space;
  CredentialSource credentials;
};

/// The folder with a pod's service account.
inline constexpr char kServiceAccount[] = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The configuration from the environment variables and files that every pod has. Token and certificate
/// authority are read again when their files change. Throws Error outside a pod.
ClusterConfig in_cluster_config(const std::string& service_account = kServiceAccount);

/// The configuration of a kubeconfig's context; "": its current context. Throws Error, which names file and
/// line. Features that aren't supported (unverified TLS, exec plugins and others) are refused by name, with
/// what to do instead.
ClusterConfig read_kubeconfig(const std::string& path, const std::string& context = "");

/// The first of these that exists: `kubeconfig` if it isn't "", $KUBECONFIG, the pod that we run in,
/// ~/.kube/config.
ClusterConfig find_config(const std::string& kubeconfig = "");

// Credentials in files, which change while we run: a pod's token lasts an hour; authorities and certificates
// are renewed in place.

/// Paths of files. "": the credential is taken from a text instead.
struct CredentialPaths {
  std::string ca, certificate, key, token;
};

/// Reads the credentials that have a path, and takes the others from `texts`. Later calls read changed files
/// again; if a file is gone, half written or empty, the earlier text stays. Throws Error, which names the
/// file, if the first reading fails.
CredentialSource credential_files(const CredentialPaths& paths, const Credentials& texts = {});

}  // namespace atl::kube
