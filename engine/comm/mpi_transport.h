// Ranks as processes, started by mpirun.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "comm/transport.h"

namespace atl {

/// What stands before a server's link, where bytes have been handed to the system and nothing passes them any more.
inline constexpr int kQueuedBytes = 256 << 10;

struct MpiOptions {
  /// This rank's server; empty: the name that MPI gives the machine.
  std::string host;
  /// Of what a longer message is split into (mpi_lane.h): what Open MPI sends over TCP without asking its receiver,
  /// its own header included, is 64 KiB. Equal on all ranks; tests set it low.
  std::int64_t piece_bytes = 63 << 10;
  /// The same within a server, where memory carries messages, and each piece costs a rendezvous.
  std::int64_t near_piece_bytes = 4 << 20;
};

/// A transport over MPI_COMM_WORLD, one MPI communicator a lane. open() initialises MPI and an orderly
/// close() finalises it, so a process has one at most, once. Every failed MPI call is an Error naming the
/// call, rank and host.
std::unique_ptr<Transport> make_mpi_transport(MpiOptions options = {});

}  // namespace atl
