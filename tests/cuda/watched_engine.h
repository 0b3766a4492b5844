// A progress engine that tells a test whenever the compute thread comes to wait for an operation.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "comm/progress.h"

namespace atl::test {

class WatchedEngine final : public ProgressEngine {
 public:
  WatchedEngine(std::unique_ptr<Transport> transport, std::function<void(const Operation&)> on_wait)
      : inner_(std::move(transport), {.timeout = std::chrono::seconds(20)}), on_wait_(std::move(on_wait)) {}
  void wait(Operation& operation) override {
    if (operation.lane != Lane::kPrefetch) on_wait_(operation);
    inner_.wait(operation);
  }
  Transport& transport() override { return inner_.transport(); }
  void enqueue(std::shared_ptr<Operation> operation) override { inner_.enqueue(std::move(operation)); }
  void abandon() override { inner_.abandon(); }
  double cpu_seconds() const override { return inner_.cpu_seconds(); }
  double busy_seconds() const override { return inner_.busy_seconds(); }

 private:
  Progress inner_;
  std::function<void(const Operation&)> on_wait_;
};

}  // namespace atl::test
