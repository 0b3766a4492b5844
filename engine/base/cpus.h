// Which processors a rank's threads run on. Where a server's ranks have its processors to themselves, each
// takes some of them for itself and each thread stays on one, so that caches stay warm and no two threads
// share a processor while another is idle.
//
// They have them to themselves where they are as many as all these ranks' threads: a pod whose processors the
// kubelet's static policy gave to it alone, or a whole machine. Otherwise others run there too, or some stay
// free: the kernel, which sees who does, then places threads better than anything that is settled at the
// start.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace atl {

class ThreadPool;

/// A processor, as the kernel numbers it, and what it is a part of.
struct Cpu {
  int id = 0;
  int package = 0, core = 0;  // of its machine, of its package
  bool operator==(const Cpu&) const = default;
};

/// Those that the calling thread may run on, by package, then core: neighbours are near each other. `root` is
/// where /sys is looked for; without it all are of one package. Empty where the kernel doesn't tell.
std::vector<Cpu> allowed_cpus(const std::filesystem::path& root = "/");

/// One of the processes that share a server, which all have as many threads.
struct ServerShare {
  int index = 0, processes = 1, threads = 1;
};

/// Those of `cpus` (in allowed_cpus' order) that are the share's alone: one for each of its threads, of one
/// package where that can be, none of another process's. Empty unless `cpus` are exactly as many as all
/// threads, and the CPU quota (cores; 0: none) lets all of them run.
std::vector<int> own_cpus(std::span<const Cpu> cpus, double quota, const ServerShare& share);

/// "0-3,8".
std::string cpu_list(std::vector<int> cpus);

/// All threads that this process has now, whatever they do, to these processors. Where the kernel refuses,
/// they stay as they are.
void keep_process_on(std::span<const int> cpus);

/// Every thread of the pool, the calling one included, to all of these processors. Where the kernel refuses,
/// they stay as they are.
void keep_threads_on(ThreadPool& pool, std::span<const int> cpus);

/// Thread t of the pool to cpus[t], the calling thread, which is its first, included. Where the kernel
/// refuses, they stay as they are.
void bind_threads(ThreadPool& pool, std::span<const int> cpus);

}  // namespace atl
