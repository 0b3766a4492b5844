// How mpirun is called: everything that would surprise a user of one machine is settled here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace atl {

/// Where the ranks run, if not on this machine.
struct RemoteHosts {
  std::vector<std::string> addresses;  // of each rank: IP addresses
  std::string shell;                   // mpirun puts an address and a command behind it: "ssh -p 2222"
};

/// Of a machine's name: with more letters before the first digit or hyphen the library that starts ranks
/// (PMIx) crashes.
inline constexpr std::size_t kLongestName = 56;

/// The command that runs `program` (path and arguments) as `ranks` processes. Root is allowed, more ranks
/// than cores too, binding is left to us, the machine's own host file isn't read. On this machine `scratch`
/// takes Open MPI's session files and shared memory, so that a killed job leaves nothing behind; with hosts
/// it takes the list of them. Ranks run on this machine, or on the hosts by their shell, whatever allocation
/// of a scheduler we are in (Slurm, PBS, LSF, Grid Engine), without whose variables mpirun would start them
/// elsewhere. Throws Error where mpirun isn't installed, or the shell that hosts need.
std::vector<std::string> mpirun_command(int ranks, const RemoteHosts& hosts,
                                        const std::vector<std::string>& program,
                                        const std::filesystem::path& scratch);

/// Throws Error as mpirun_command() would, for those who ask before there is anything to run.
void check_mpirun(const RemoteHosts& hosts);

/// Whether one process may read another's memory (containers often forbid it; Open MPI would fail at the
/// first large message).
bool cross_memory_allowed();

// How many files and pipes mpirun may have open, and how long files may be: it waits for ever for ranks that
// it found no pipe for, and ends with messages of its parts where a file is too long.

/// The limit on open files (`ulimit -n`) of this process.
long open_file_limit();

/// Raises the limit on open files of this process, and so of its children, as far as many ranks could need
/// and the hard limit allows. Throws Error where that is too low for these ranks, or the limit on file sizes
/// (`ulimit -f`) for any; that one isn't raised, for it protects the user's disk.
void allow_files(int ranks, const RemoteHosts& hosts);

}  // namespace atl
