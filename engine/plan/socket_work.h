// The processor time that sending and receiving takes a rank: bytes go through a TCP connection of this process with
// itself, as the library's go through the network's; more or less of them, where it is known what the network's take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/descriptor.h"

namespace atl {

class SocketWork {
 public:
  /// `seconds_per_byte` of processor time, to send a byte and to receive one; 0: what that connection takes. Throws Error where
  /// this machine doesn't connect to 127.0.0.1.
  explicit SocketWork(double seconds_per_byte = 0);

  /// The work of sending so many bytes, and receiving as many; done by pieces of the library's, once one is whole. Throws Error where either takes longer than a second.
  void carry(std::int64_t bytes);

 private:
  /// Of the connection, in this process.
  struct Ends {
    Descriptor out, in;
  };
  static Ends connected();
  void pass(std::int64_t bytes);
  double seconds_to_pass(std::int64_t bytes);

  Ends ends_;
  std::vector<std::byte> rows_, piece_;
  std::size_t at_ = 0;  // in rows_
  double share_ = 1;    // of the bytes that pass the connection
  double owed_ = 0;     // bytes that have yet to
};

}  // namespace atl
