#include "train/rank_device.h"

#include "base/error.h"

namespace atl {

DeviceChoice device_choice(const std::string& text) {
  if (text == "auto") return DeviceChoice::kAuto;
  if (text == "cpu") return DeviceChoice::kCpu;
  if (text == "cuda") return DeviceChoice::kCuda;
  fail("--device: '{}' is not allowed (use auto, cpu or cuda)", text);
}

bool cuda_graphs_choice(const std::string& text) {
  if (text != "on" && text != "off") fail("--cuda-graphs: '{}' is not allowed (use on or off)", text);
  return text == "on";
}

RankDevice open_device(DeviceChoice choice, int rank_here, bool cuda_graphs) {
  if (choice == DeviceChoice::kCpu || (choice == DeviceChoice::kAuto && !has_backend())) return {};
  const auto open = [&]() -> RankDevice {
    RankDevice device{Device::kCuda, backend().open(rank_here), ""};
    if (cuda_graphs) device.open.stream->replay_rounds();
    return device;
  };
  if (choice == DeviceChoice::kCuda) return open();
  try {
    return open();
  } catch (const Error& error) {
    return {Device::kCpu, {}, error.what()};
  }
}

}  // namespace atl
