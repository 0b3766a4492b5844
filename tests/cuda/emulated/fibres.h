// Threads of a block as fibres: each has its own stack and runs until it waits for others. Switching between
// them takes no system call.
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

  /// Starts fibre `which` with `body`, which outlives it.
  void start(std::size_t which, const std::function<void()>& body);
  /// Continues a fibre until it pauses or ends. Called from outside of fibres. Returns true where it has
  /// ended.
  bool resume(std::size_t which);
  /// Called on a fibre: returns to the caller of resume().
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
