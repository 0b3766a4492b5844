// Waiting until every host of a job answers: a name service, a network or sshd may lag behind a pod that says Ready.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace atl {

struct HostPort {
  std::string name;     // for messages: "cora-0-0"
  std::string address;  // numeric: "10.1.0.5", "fd00::5"
  int port = 0;
};

/// Returns when each has accepted a connection. Throws Error after `patience`, naming those that haven't and why, and at
/// once where an address is none.
void wait_until_reachable(const std::vector<HostPort>& hosts, std::chrono::milliseconds patience);

}  // namespace atl
