#include "launch/mpirun_command.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace atl {
namespace {

/// The program's path, or "" where it isn't on PATH.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

std::string find_mpirun() {
  const std::string path = find_program("mpirun");
  if (path.empty())
    fail("mpirun is not on PATH, but several ranks need it: apt-get install openmpi-bin, or use --ranks 1");
  return path;
}

void check_shell(const std::string& shell) {
  const std::string program = shell.substr(0, shell.find(' '));
  if (find_program(program).empty())
    fail(
        "{} is not on PATH, and --hosts needs it: apt-get install openssh-client, or name another remote shell with --shell",
        program);
}

std::string own_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
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

}  // namespace

void check_mpirun(const RemoteHosts& hosts) {
  find_mpirun();
  if (!hosts.addresses.empty()) check_shell(hosts.shell);
}

bool cross_memory_allowed() {
  // Seccomp refuses the call itself. Yama refuses it between siblings from level 1 on.
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
  std::vector<std::string> command{find_mpirun(), "-n", std::to_string(ranks), "--bind-to", "none"};
  auto set = [&](const char* name, const std::string& value) {
    command.insert(command.end(), {"--mca", name, value});
  };
  if (geteuid() == 0) command.push_back("--allow-run-as-root");
  set("orte_default_hostfile", "none");
  // mpirun reads no scheduler's list of nodes, even within an allocation.
  set("ras", "^slurm,tm,lsf,gridengine,alps,loadleveler");
  set("regx", "naive");  // takes names as they are; other mappers accept no '_' and no ':'
  if (hosts.addresses.empty()) {
    command.push_back("--oversubscribe");
    set("plm", "isolated");  // starts nothing elsewhere, and needs no ssh
    if (const std::string name = own_name(); name.size() > kLongestName)
      set("orte_strip_prefix", name.substr(0, name.size() - kLongestName / 2));
    set("orte_tmpdir_base", scratch.string());
    set("btl_vader_backing_directory", scratch.string());
    if (!cross_memory_allowed()) set("btl_vader_single_copy_mechanism", "none");
  } else {
    // A host file has an order only with sequential mapping: line r is rank r's.
    command.insert(command.end(), {"--hostfile", write_host_file(hosts, ranks, scratch), "--map-by", "seq"});
    check_shell(hosts.shell);
    set("plm", "rsh");
    set("plm_rsh_agent", hosts.shell);
    for (const char* other : {"plm_rsh_disable_qrsh", "plm_rsh_disable_llspawn"}) set(other, "1");
    set("plm_rsh_no_tree_spawn", "1");  // hosts hold no keys for one another
    // It isn't known from here whether ranks on other hosts may read each other's memory.
    set("btl_vader_single_copy_mechanism", "none");
  }
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

namespace {

constexpr rlim_t kPlenty = 65536;  // a higher limit slows programs that visit every number below it

/// The size of a file that PMIx shares. Measured with Open MPI 4.1: 2, 4 and 8 ranks start with a limit of
/// 7.8 MiB, but not with 6.8.
constexpr rlim_t kSharedFile = rlim_t{8} << 20;

rlimit limits() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  return files;
}

/// The least number of files that mpirun needs. For ranks on this machine, measured with Open MPI 4.1: 2
/// ranks start with 36 and not with 32, 8 with 64 and not with 56, 20 with 110 and not with 96. For ranks
/// elsewhere, mpirun holds a connection to each host: 28 files are open for 4 hosts, 36 for 12, 54 for 30.
long open_files_of(int ranks, const RemoteHosts& hosts) {
  constexpr long kOwn = 28;
  if (hosts.addresses.empty()) return kOwn + 4 * long(ranks);
  return kOwn + long(std::set(hosts.addresses.begin(), hosts.addresses.end()).size());
}

}  // namespace

long open_file_limit() {
  return long(std::min<rlim_t>(limits().rlim_cur, kPlenty));
}

void allow_files(int ranks, const RemoteHosts& hosts) {
  rlimit files = limits();
  files.rlim_cur = std::max(files.rlim_cur, std::min(files.rlim_max, kPlenty));
  setrlimit(RLIMIT_NOFILE, &files);
  const long needed = open_files_of(ranks, hosts), allowed = open_file_limit();
  if (std::min<long>(needed, long(kPlenty)) > allowed)
    fail(
        "at most {} files may be open here, and mpirun needs about {} for {} ranks: raise the hard limit (ulimit -Hn), or use "
        "fewer ranks",
        allowed, needed, ranks);
  rlimit size{};
  if (getrlimit(RLIMIT_FSIZE, &size) == 0 && size.rlim_cur < kSharedFile)
    fail(
        "a file may have {} here, and mpirun wants {} for what ranks share: raise the limit on file sizes (ulimit -f), or use one rank",
        bytes_text(double(size.rlim_cur)), bytes_text(double(kSharedFile)));
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "atoll-launch-";

/// Free space that Open MPI needs. It gives each rank a segment of 4 MiB, of which it fills little, but it
/// wants the space to be free. Measured: 2 and 8 ranks start with 16 MiB, 2 ranks don't with 12, and mpirun
/// hangs with 1.
constexpr std::uintmax_t kRoom = std::uintmax_t(16) << 20;

std::vector<fs::path> usual_places() {
  std::vector<fs::path> places{"/dev/shm"};
  if (const char* own = std::getenv("TMPDIR"); own != nullptr && *own != '\0') places.emplace_back(own);
  places.emplace_back("/tmp");
  return places;
}

/// What the place lacks; "" if it has enough room.
std::string shortage(const fs::path& place) {
  std::error_code error;
  const fs::space_info space = fs::space(place, error);
  if (error) return fmt::format("{}: {}", place.string(), error.message());
  if (space.capacity == 0 || space.available >= kRoom) return "";  // capacity 0: memory without a limit
  return fmt::format("{}: {:.1f} MiB are free of {:.1f}, and ranks share {} at least", place.string(),
                     double(space.available) / (1 << 20), double(space.capacity) / (1 << 20), kRoom >> 20);
}

/// Locks the folder. Returns no descriptor (-1) where another process holds the lock, or the folder is gone.
Descriptor try_lock(const fs::path& folder) {
  Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat named {};
  const bool ours = file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 &&
                    ::stat(folder.c_str(), &named) == 0 && named.st_uid == geteuid();
  return ours ? std::move(file) : Descriptor(-1);
}

void remove_left_behind(const fs::path& place) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    if (const Descriptor lock = try_lock(entry.path()); lock.get() >= 0)
      fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

Scratch::Scratch() : Scratch(usual_places()) {}

Scratch::Scratch(const std::vector<fs::path>& places) {
  std::string lacks;
  for (const fs::path& place : places) {
    remove_left_behind(place);
    std::string lack = shortage(place);
    // A launcher that removes leftovers may take the folder before we lock it; then we try another name.
    for (int tries = 0; lack.empty() && tries < 100; ++tries) {
      std::string path = (place / (std::string(kPrefix) + "XXXXXX")).string();
      if (mkdtemp(path.data()) == nullptr) {
        lack = fmt::format("{}: no folder can be made in it: {}", place.string(), std::strerror(errno));
        break;
      }
      lock_ = try_lock(path);
      path_ = path;
      if (lock_.get() >= 0) return;
    }
    lacks += (lacks.empty() ? "" : "; ") + lack;
  }
  fail("{} (free space in one of them, or set TMPDIR to a folder that has it)", lacks);
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace atl
