// Threads of a block as fibres: each has a stack of its own and runs until it waits for others. Switching
// takes no system call.
#pragma once

#include <cstddef>
#include <functional>

namespace emulated {

/// A set of fibres on the calling OS thread; made once and used for block after block.
class Fibres {
 public:
  explicit Fibres(std::size_t most);
  ~Fibres();
  Fibres(const Fibres&) = delete;
  Fibres& operator=(const Fibres&) = delete;

  /// Fibre `which` begins anew with `body`, which outlives it.
  void start(std::size_t which, const std::function<void()>& body);
  /// Goes on with a fibre until it pauses or ends. Called from outside of them. True where it has ended.
  bool resume(std::size_t which);
  /// Called on a fibre: back to whoever resumed it.
  void pause();

 private:
  static void main();

  struct Fibre {
    void* stack_pointer = nullptr;
    void* fake_stack = nullptr;  // AddressSanitizer's
    bool ended = false;
  };
  std::size_t most_;
  std::byte* stacks_ = nullptr;
  Fibre* fibres_ = nullptr;
  Fibre* current_ = nullptr;
  const std::function<void()>* body_ = nullptr;
  void* outside_ = nullptr;
  const void* outside_stack_ = nullptr;
  std::size_t outside_bytes_ = 0;
};

}  // namespace emulated
