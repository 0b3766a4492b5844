#include "command/run/hosts.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/error.h"

namespace atl {
namespace {

std::string given(const Arguments& a, const char* option, const char* variable,
                  const std::string& otherwise) {
  const char* value = std::getenv(variable);
  return a.get(option, value != nullptr && *value != '\0' ? value : otherwise);
}

std::vector<std::string> servers_in(const std::string& list) {
  std::vector<std::string> servers;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    if (name.empty() || name.find_first_of(" \t:") != std::string::npos)
      fail("--hosts: '{}' is not allowed (use HOST,HOST,…: the name or address of each server)", list);
    servers.push_back(name);
  }
  return servers;
}

std::string own_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

bool is_here(const std::string& server) {
  return server == "localhost" || server == own_name() || server.starts_with("127.");
}

}  // namespace

RemoteHosts run_hosts(const Arguments& a, const Job& job) {
  const std::vector<std::string> servers = servers_in(given(a, "--hosts", "ATOLL_HOSTS", ""));
  if (std::ranges::all_of(servers, is_here)) return {};
  if (a.has("--metrics"))
    fail("--metrics and --hosts exclude each other: --metrics serves only ranks on this machine (use one)");
  const int ranks = job.placement.ranks, together = job.placement.ranks_per_server;
  const int used = together > 0 ? (ranks + together - 1) / together : std::min(ranks, int(servers.size()));
  if (used > int(servers.size())) {
    fail("--hosts: {} ranks with placement.ranksPerServer {} need {} servers, not {}: {}", ranks, together,
         used, servers.size(), "name more, or change one of the two");
  }
  RemoteHosts hosts{{}, given(a, "--shell", "ATOLL_SHELL", "ssh")};
  for (int rank = 0; rank < ranks; ++rank) {
    const int server = together > 0 ? rank / together : rank * used / ranks;
    const std::string& name = servers[std::size_t(server)];
    if (is_here(name) && own_name().size() > kLongestName)
      fail(
          "--hosts: Open MPI can't take '{}', this machine's name, of more than {} characters (give its address instead)",
          own_name(), kLongestName);
    hosts.addresses.push_back(is_here(name) ? own_name()
                                            : name);  // mpirun knows this machine by this name alone
  }
  return hosts;
}

}  // namespace atl
