#include "train/rank_device.h"

#include "base/error.h"

namespace atl {

DeviceChoice device_choice(const std::string& text) {
  if (text == "auto") return DeviceChoice::kAuto;
  if (text == "cpu") return DeviceChoice::kCpu;
  if (text == "cuda") return DeviceChoice::kCuda;
  fail("--device: '{}' is not allowed (use auto, cpu or cuda)", text);
}

bool on_or_off(const char* option, const std::string& text) {
  if (text != "on" && text != "off") fail("{}: '{}' is not allowed (use on or off)", option, text);
  return text == "on";
}

RankDevice open_device(DeviceChoice choice, int rank_here, const GpuOptions& options) {
  if (choice == DeviceChoice::kCpu || (choice == DeviceChoice::kAuto && !has_backend())) return {};
  const auto open = [&]() -> RankDevice {
    RankDevice device{Device::kCuda, backend().open(rank_here), ""};
    if (options.graphs) device.open.stream->replay_rounds();
    if (options.gates) device.open.stream->use_gates();
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
