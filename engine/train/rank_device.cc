#include "train/rank_device.h"

#include "base/error.h"

namespace atl {

DeviceChoice device_choice(const std::string& text) {
  if (text == "auto") return DeviceChoice::kAuto;
  if (text == "cpu") return DeviceChoice::kCpu;
  if (text == "cuda") return DeviceChoice::kCuda;
  fail("--device: '{}' is not allowed (use auto, cpu or cuda)", text);
}

RankDevice open_device(DeviceChoice choice, int rank_here) {
  if (choice == DeviceChoice::kCpu || (choice == DeviceChoice::kAuto && !has_backend())) return {};
  const auto open = [&]() -> RankDevice { return {Device::kCuda, backend().open(rank_here), ""}; };
  if (choice == DeviceChoice::kCuda) return open();
  try {
    return open();
  } catch (const Error& error) {
    return {Device::kCpu, {}, error.what()};
  }
}

}  // namespace atl
