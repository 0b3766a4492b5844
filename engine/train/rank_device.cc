#include "train/rank_device.h"

#include "base/error.h"

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

RankDevice open_gpu(int rank_here, const GpuOptions& options) {
  RankDevice device{Device::kCuda, backend().open(rank_here), ""};
  if (options.graphs) device.open.stream->replay_rounds();
  if (options.cusparse && !device.open.stream->sum_by_library(true))
    fail("--sums cusparse: this machine has no cuSPARSE (libcusparse.so.12; leave the option out)");
  return device;
}

}  // namespace

RankDevice open_device(DeviceChoice choice, int rank_here, const GpuOptions& options) {
  if (choice == DeviceChoice::kCpu || (choice == DeviceChoice::kAuto && !has_backend())) return {};
  if (choice == DeviceChoice::kCuda) return open_gpu(rank_here, options);
  try {
    return open_gpu(rank_here, options);
  } catch (const Error& error) {
    return {Device::kCpu, {}, error.what()};
  }
}

}  // namespace atl
