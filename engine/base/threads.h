// The threads of one rank: how many the machine gives it, and a pool that runs numbered chunks on them.
#pragma once

#include <memory>

#include "base/function_ref.h"
#include "base/types.h"

namespace atl {

/// Cores this process may use: the smaller of its affinity mask and its cgroup's CPU quota (v1 and v2),
/// rounded up, at least 1. In a container nproc would show the machine's cores, which is far too many
/// threads.
int available_cores();

/// A fixed set of threads that divide chunks of work. run() is called from one thread at a time, and not from
/// inside a chunk. Workers spin for some microseconds after work, then sleep.
class ThreadPool {
 public:
  /// `threads` counts the caller, which works too: 1 starts no thread.
  explicit ThreadPool(int threads);
  /// A pool for sizing a job (`atoll plan`): it claims `threads` threads but runs no chunk, so kernels
  /// allocate all the memory that they would use and touch none of it.
  static std::unique_ptr<ThreadPool> dry(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  /// Calls work(chunk, thread) for chunk = 0 … chunks − 1, each once, in any order, on any thread
  /// 0 … threads() − 1, and returns when all are done. What a chunk computes must not depend on the thread.
  /// An exception thrown by a chunk is rethrown here after the others have ended.
  void run(Index chunks, FunctionRef<void(Index chunk, int thread)> work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace atl
