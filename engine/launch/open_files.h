// How many files and pipes mpirun may have open: it waits for ever for ranks that it found no pipe for.
#pragma once

namespace atl {

/// The limit on open files (`ulimit -n`) of this process.
long open_file_limit();

/// What mpirun needs at least for `ranks` on this machine. Measured with Open MPI 4.1: 2 ranks start with 36 and not with 32,
/// 8 with 64 and not with 56, 20 with 110 and not with 96.
constexpr long open_files_of(int ranks) {
  return 28 + 4 * long(ranks);
}

/// Raises the limit of this process, and so of its children, as far as many ranks could need and the hard limit allows. Throws
/// Error where that is too low for `ranks` on this machine.
void allow_open_files(int ranks);

}  // namespace atl
