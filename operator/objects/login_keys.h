// The keys of one job: a pair with which the launcher logs in to the workers, and one by which it recognises
// them. ed25519, in OpenSSH's own format, the only one that its version 9 accepts for such keys.
#pragma once

#include <string>

namespace atl::ctl {

struct KeyPair {
  std::string secret;  // openssh-key-v1, the file's text
  std::string open;    // "ssh-ed25519 AAAA…", one line without its end
};

struct LoginKeys {
  KeyPair login, host;
  std::string id;  // random hexadecimal digits, so that nobody can guess the name of the keys' Secret
};

/// New keys each time, from the system's random numbers. Throws Error where there are none.
LoginKeys make_login_keys();

}  // namespace atl::ctl
