// Parts divided among servers, and exchanges between them that keep more bytes inside: Kernighan and Lin's gain, one pair at
// a time.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "job/layout.h"

namespace atl {

/// Bytes between pairs of parts, both directions together; a part has none with itself.
class PairedBytes {
 public:
  PairedBytes(int parts, std::span<const PairBytes> flows);

  struct Peer {
    int part;
    double bytes;
  };
  std::span<const Peer> of(int part) const {
    return rows_[std::size_t(part)];
  }  // a peer may stand there twice
  int parts() const { return int(rows_.size()); }
  double total() const { return total_; }

 private:
  std::vector<std::vector<Peer>> rows_;
  double total_ = 0;
};

class Division {
 public:
  /// `server_of` (parts). `bytes` outlives it.
  Division(const PairedBytes& bytes, std::vector<int> server_of, int servers);

  /// Pairs change places while that helps. Deterministic.
  void refine();

  double bytes_inside() const;
  const std::vector<int>& server_of() const { return server_of_; }

 private:
  std::size_t index(int part, int server) const {
    return std::size_t(part) * std::size_t(servers_) + std::size_t(server);
  }
  std::pair<int, double> best_exchange(int part) const;
  void exchange(int a, int b);
  void move(int part, int from, int to);

  const PairedBytes& bytes_;
  std::vector<int> server_of_;  // by part
  int servers_;
  std::vector<double> with_;  // (parts × servers) bytes between a part and those on a server
};

}  // namespace atl
