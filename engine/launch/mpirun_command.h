// The command that starts mpirun, with settings that avoid surprises on a single machine, and the folder that
// mpirun works in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"

namespace atl {

/// Where the ranks run, if not on this machine.
struct RemoteHosts {
  std::vector<std::string> addresses;  // (ranks) IP address of each rank's host
  std::string shell;                   // mpirun appends an address and a command: "ssh -p 2222"
};

/// The longest machine name that works. With more letters before the name's first digit or hyphen, PMIx, the
/// library that starts ranks, crashes.
inline constexpr std::size_t kLongestName = 56;

/// The command that runs `program` (path and arguments) as `ranks` processes. It allows root and more ranks
/// than cores, leaves binding to us and ignores the machine's own host file. On this machine `scratch` takes
/// Open MPI's session files and shared memory, so that a killed job leaves nothing behind; with hosts it
/// takes the host file. Ranks run on this machine, or on the hosts by their shell, even within a scheduler's
/// allocation (Slurm, PBS, LSF, Grid Engine): the scheduler's variables, by which mpirun would start them
/// elsewhere, are ignored. Throws Error if mpirun, or the shell that hosts need, isn't installed.
std::vector<std::string> mpirun_command(int ranks, const RemoteHosts& hosts,
                                        const std::vector<std::string>& program,
                                        const std::filesystem::path& scratch);

/// Throws Error as mpirun_command() would, before there is anything to run.
void check_mpirun(const RemoteHosts& hosts);

/// Whether one process may read another's memory (containers often forbid it; Open MPI would fail at the
/// first large message).
bool cross_memory_allowed();

// Limits on how many files and pipes mpirun may have open, and how large files may be. If mpirun finds no
// pipe for some ranks, it waits for them for ever. If a file grows too large, it ends with obscure messages.

/// The limit on open files (`ulimit -n`) of this process.
long open_file_limit();

/// Raises the limit on open files of this process, and so of its children, as far as many ranks could need
/// and the hard limit allows. Throws Error if the hard limit is too low for these ranks, or if the limit on
/// file sizes (`ulimit -f`) is too low for any number of ranks. The limit on file sizes isn't raised, because
/// it protects the user's disk.
void allow_files(int ranks, const RemoteHosts& hosts);

// A folder in memory for Open MPI's session files and shared segments. It is removed when the launch is over.
// The next launcher removes the folders that killed launchers have left.

class Scratch {
 public:
  /// Uses /dev/shm, TMPDIR or /tmp: the first where a folder can be made and where there is room for what
  /// ranks share. Removes the folders there of the same user's launchers that have ended. A running launcher
  /// holds a lock (flock) on its folder. Throws Error, with what each place lacks, if none will do.
  Scratch();
  explicit Scratch(const std::vector<std::filesystem::path>& places);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor lock_{-1};
};

}  // namespace atl
