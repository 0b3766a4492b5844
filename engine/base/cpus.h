// Which processors a rank's threads run on. If a server's ranks have its processors to themselves, each rank
// takes some of them for itself, and each of its threads stays on one. Then caches stay warm, and no two
// threads share a processor while another is idle.
//
// Ranks have the processors to themselves where there are exactly as many as all their threads: in a pod
// whose processors the kubelet's static policy gave to it alone, or on a whole machine. Otherwise other
// processes run there too, or some processors stay free. The kernel then places threads better than a fixed
// choice at the start, because it sees which ones are busy.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace atl {

class ThreadPool;

/// A processor as the kernel numbers it, and the package and core that it belongs to.
struct Cpu {
  int id = 0;
  int package = 0, core = 0;  // of its machine, of its package
  bool operator==(const Cpu&) const = default;
};

/// Processors that the calling thread may run on, sorted by package, then core, so that neighbours are near
/// each other. Reads /sys under `root`; without /sys all count as one package. Empty where the kernel doesn't
/// tell.
std::vector<Cpu> allowed_cpus(const std::filesystem::path& root = "/");

/// One of the processes that share a server. All have the same number of threads.
struct ServerShare {
  int index = 0, processes = 1, threads = 1;
};

/// The processors of `cpus` (in allowed_cpus' order) that only this share uses: one for each of its threads,
/// all of one package if possible. Empty unless `cpus` are exactly as many as all threads, and the CPU quota
/// (cores; 0: none) lets all of them run.
std::vector<int> own_cpus(std::span<const Cpu> cpus, double quota, const ServerShare& share);

/// Writes processors as "0-3,8".
std::string cpu_list(std::vector<int> cpus);

/// Moves all threads that this process has now, whatever they do, to these processors. Where the kernel
/// refuses, they stay as they are.
void keep_process_on(std::span<const int> cpus);

/// Lets every thread of the pool, the calling one included, run on all of these processors. Where the kernel
/// refuses, they stay as they are.
void keep_threads_on(ThreadPool& pool, std::span<const int> cpus);

/// Binds thread t of the pool to cpus[t]; the calling thread is thread 0. Where the kernel refuses, they stay
/// as they are.
void bind_threads(ThreadPool& pool, std::span<const int> cpus);

}  // namespace atl
