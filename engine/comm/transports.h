// The transports: ranks as threads, as processes, and on GPUs with links of their own or without.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/transport.h"
#include "tensor/device_stream.h"

namespace atl {

/// Transports of `ranks` ranks that reach each other, one for each rank's thread. `hosts` names each rank's
/// server (default: all "localhost"), so that a test can have links between servers. A send is done when its
/// receiver has copied it. A rank whose transport closes or dies makes every other rank's outstanding message
/// with it fail.
std::vector<std::unique_ptr<Transport>> make_local_group(int ranks, std::vector<std::string> hosts = {});

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

/// `make_stream` is called by the progress thread, in open(). Messages may lie in the host's memory or the backend's.
std::unique_ptr<Transport> make_staged_transport(std::unique_ptr<Transport> host,
                                                 std::function<std::unique_ptr<DeviceStream>()> make_stream);

struct LinkOptions {
  bool on_device = true;                             // false: this rank is on the host, and none has links
  int rank_here = 0;                                 // its number on its machine
  std::chrono::milliseconds timeout{300'000};        // of silence
  std::string* why_staged = nullptr;                 // open() says why there are no links; empty: there are
  std::function<void(const std::string&)> on_stuck;  // as Communicator::Options::on_stuck
  std::int64_t round_bytes =
      64 << 20;  // of a message, at once: a long one is seen to go on. Equal on all ranks
};

/// `host` also carries messages between devices where there are no links: between ranks that share a GPU, or without the library. All
/// ranks of the group have this transport over theirs.
std::unique_ptr<Transport> make_linked_transport(std::unique_ptr<Transport> host, const LinkOptions& options);

}  // namespace atl
