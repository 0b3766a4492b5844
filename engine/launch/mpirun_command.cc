#include "launch/mpirun_command.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace atl {
namespace {

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  fail("{} is not on PATH, but several ranks need it: apt-get install openmpi-bin, or use --ranks 1", name);
}

std::string write_host_file(const RemoteHosts& hosts, int ranks, const std::filesystem::path& folder) {
  ATOLL_CHECK(int(hosts.addresses.size()) == ranks, "{} addresses for {} ranks", hosts.addresses.size(),
              ranks);
  const std::filesystem::path path = folder / "hosts";
  std::ofstream file(path);
  for (const std::string& address : hosts.addresses) file << address << '\n';
  file.close();
  if (!file) fail("{}: cannot be written; free space in that folder", path.string());
  return path.string();
}

bool is_ipv6(const std::string& address) {
  return address.find(':') != std::string::npos;
}

}  // namespace

bool cross_memory_allowed() {
  // Seccomp refuses the call itself; Yama refuses it between siblings from level 1 on.
  int from = 1, to = 0;
  const iovec local{&to, sizeof to}, remote{&from, sizeof from};
  if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != sizeof to) return false;
  int level = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> level;
  return level == 0;
}

std::vector<std::string> mpirun_command(int ranks, const RemoteHosts& hosts,
                                        const std::vector<std::string>& program,
                                        const std::filesystem::path& scratch) {
  std::vector<std::string> command{find_program("mpirun"), "-n", std::to_string(ranks), "--bind-to", "none"};
  auto set = [&](const char* name, const std::string& value) {
    command.insert(command.end(), {"--mca", name, value});
  };
  if (geteuid() == 0) command.push_back("--allow-run-as-root");
  set("orte_default_hostfile", "none");
  if (hosts.addresses.empty()) {
    command.push_back("--oversubscribe");
    set("orte_tmpdir_base", scratch.string());
    set("btl_vader_backing_directory", scratch.string());
    if (!cross_memory_allowed()) set("btl_vader_single_copy_mechanism", "none");
  } else {
    // A host file has no order but with sequential mapping: line r is rank r's.
    command.insert(command.end(), {"--hostfile", write_host_file(hosts, ranks, scratch), "--map-by", "seq"});
    set("plm_rsh_agent", hosts.shell);
    set("plm_rsh_no_tree_spawn", "1");               // hosts hold no key for one another
    set("btl_vader_single_copy_mechanism", "none");  // who may read whose memory is not known from here
    if (std::ranges::any_of(hosts.addresses, is_ipv6))
      set("regx", "naive");  // the others take ':' for no part of a name
  }
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

}  // namespace atl
