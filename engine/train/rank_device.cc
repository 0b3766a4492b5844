#include "train/rank_device.h"

#include "base/cpus.h"
#include "base/error.h"
#include "base/memory.h"

namespace atl {

DeviceChoice device_choice(const std::string& text) {
  if (text == "auto") return DeviceChoice::kAuto;
  if (text == "cpu") return DeviceChoice::kCpu;
  if (text == "cuda") return DeviceChoice::kCuda;
  fail("--device: '{}' is not allowed (use auto, cpu or cuda)", text);
}

GpuOptions gpu_options(const std::string& graphs, const std::string& sums) {
  if (graphs != "on" && graphs != "off") fail("--cuda-graphs: '{}' is not allowed (use on or off)", graphs);
  if (sums != "atoll" && sums != "cusparse")
    fail("--sums: '{}' is not allowed (use atoll or cusparse)", sums);
  return {.graphs = graphs == "on", .cusparse = sums == "cusparse"};
}

namespace {

RankDevice open_gpu(int rank_here, bool replays) {
  RankDevice device{Device::kCuda, backend().open(rank_here), ""};
  if (replays) device.open.stream->replay_rounds();
  return device;
}

RankDevice open_any(DeviceChoice choice, int rank_here, bool replays) {
  if (choice == DeviceChoice::kCpu || (choice == DeviceChoice::kAuto && !has_backend())) return {};
  if (choice == DeviceChoice::kCuda) return open_gpu(rank_here, replays);
  try {
    return open_gpu(rank_here, replays);
  } catch (const Error& error) {
    return {Device::kCpu, {}, error.what()};
  }
}

}  // namespace

/// Where a library was asked for by name and is missing, fails rather than training on the CPU.
RankDevice open_device(DeviceChoice choice, int rank_here, const GpuOptions& options) {
  RankDevice device = open_any(choice, rank_here, options.graphs);
  if (options.cusparse && device.device == Device::kCuda && !device.open.stream->sum_by_library(true))
    fail("--sums cusparse: this machine has no cuSPARSE (libcusparse.so.12; leave the option out)");
  return device;
}

std::vector<int> take_cpus(const Communicator& comm, int threads) {
  ServerShare share{0, 0, threads};
  for (Rank rank = 0; rank < comm.size(); ++rank) {
    if (!comm.same_server(rank, comm.rank())) continue;
    if (rank < comm.rank()) ++share.index;
    ++share.processes;
  }
  std::vector<int> cpus = own_cpus(allowed_cpus(), quota_cores(), share);
  if (cpus.size() > 1) keep_process_on(cpus);
  return cpus;
}

}  // namespace atl
