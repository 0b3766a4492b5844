// The processor time that sending and receiving takes a rank: bytes go through a TCP connection of this process with
// itself, as the library's go through the network's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/descriptor.h"

namespace atl {

class SocketWork {
 public:
  /// Throws Error where this machine doesn't connect to 127.0.0.1.
  SocketWork();

  /// Sends so many bytes, and receives them. Throws Error where either takes longer than a second.
  void carry(std::int64_t bytes);

 private:
  /// Of the connection, in this process.
  struct Ends {
    Descriptor out, in;
  };
  static Ends connected();

  Ends ends_;
  std::vector<std::byte> rows_, piece_;
  std::size_t at_ = 0;  // in rows_
};

}  // namespace atl
