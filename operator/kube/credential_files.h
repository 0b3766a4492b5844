// Credentials that lie in files and change while we run: a pod's token lasts an hour, authorities and certificates are
// renewed in place.
#pragma once

#include <string>

#include "operator/kube/transport.h"

namespace atl::kube {

/// Paths; "": taken from the text given instead.
struct CredentialPaths {
  std::string ca, certificate, key, token;
};

/// Reads what has paths and fills the rest from `texts`. Later calls of the source read again what has changed, and
/// go on with what there was where that is gone, half written or empty. Throws Error, naming the file, where the
/// first reading fails.
CredentialSource credential_files(const CredentialPaths& paths, const Credentials& texts = {});

}  // namespace atl::kube
