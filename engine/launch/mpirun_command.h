// How mpirun is called: everything that would surprise a user of one machine is settled here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace atl {

/// The command that runs `program` (path and arguments) as `ranks` processes on this machine. Root is
/// allowed, more ranks than cores too, binding is left to us, no host file is read. `scratch` takes Open
/// MPI's session files and shared memory, so that a killed job leaves nothing behind. Throws Error where
/// mpirun isn't installed.
std::vector<std::string> mpirun_command(int ranks, const std::vector<std::string>& program,
                                        const std::filesystem::path& scratch);

/// Whether one process may read another's memory (containers often forbid it; Open MPI would fail at the
/// first large message).
bool cross_memory_allowed();

}  // namespace atl
