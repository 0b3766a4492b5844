// Gates that a GPU's stream stands at (tensor/cuda/gates.h): what is behind one is done when a thread of the host has opened it.
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "emulated.h"
#include "tensor/buffer.h"
#include "tensor/cuda/backend.h"

namespace atl::test {
namespace {

/// Opens what it keeps when it is asked, or says that it can't.
class Keeper final : public GateKeeper {
 public:
  explicit Keeper(DeviceStream& stream) : stream_(stream) {}
  ~Keeper() override { stream_.leave(*this); }
  void wait_for_gates() override {
    ++asked;
    for (Gate* each : gates) each->open();
    if (!failure.empty()) throw Error(failure);
  }
  std::vector<Gate*> gates;
  std::string failure;
  int asked = 0;

 private:
  DeviceStream& stream_;
};

class GatesOfAStream : public testing::Test {
 protected:
  void SetUp() override {
    install_backend(&cuda::backend());
    gpu_ = backend().open(0);
    gpu_.stream->use_gates();
    for (int round = 0; round < 3; ++round) gpu_.stream->begin_round(Round::kStep);
  }
  void TearDown() override {
    gpu_ = {};
    install_backend(nullptr);
  }
  void write(Buffer<int>& to, int value) { gpu_.stream->upload(to.data(), &value, sizeof value); }
  int read(const Buffer<int>& from) {
    int value = -1;
    gpu_.stream->download(&value, from.data(), sizeof value);
    gpu_.stream->synchronise();
    return value;
  }

  OpenDevice gpu_;
};

TEST_F(GatesOfAStream, HoldWhatIsBehindThemUntilTheyAreOpened) {
  Buffer<int> number(Device::kCuda, 1);
  write(number, 1);
  const std::unique_ptr<Gate> gate = gpu_.stream->make_gate();
  Keeper keeper(*gpu_.stream);
  for (int i = 0; i < 20; ++i) {  // each time closed anew
    gate->close();
    ASSERT_TRUE(gpu_.stream->stand_at(*gate, keeper));
    write(number, i);
    const DeviceStream::Mark mark = gpu_.stream->mark();
    for (int asked = 0; asked < 200; ++asked) ASSERT_FALSE(gpu_.stream->reached(mark));
    std::thread([&] { gate->open(); }).join();
    while (!gpu_.stream->reached(mark)) std::this_thread::yield();
  }
  EXPECT_EQ(keeper.asked, 0) << "the host didn't wait";
  EXPECT_EQ(read(number), 19);
}

TEST_F(GatesOfAStream, AreOpenWhereTheyWereOpenedBefore) {
  Buffer<int> number(Device::kCuda, 1);
  const std::unique_ptr<Gate> gate = gpu_.stream->make_gate();
  Keeper keeper(*gpu_.stream);
  gate->close();
  gate->open();
  ASSERT_TRUE(gpu_.stream->stand_at(*gate, keeper));
  write(number, 5);
  EXPECT_EQ(read(number), 5);
}

TEST_F(GatesOfAStream, AreTheKeepersWhereTheHostWaitsForTheStream) {
  Buffer<int> number(Device::kCuda, 1);
  const std::unique_ptr<Gate> gate = gpu_.stream->make_gate();
  Keeper keeper(*gpu_.stream);
  keeper.gates = {gate.get()};
  gate->close();
  ASSERT_TRUE(gpu_.stream->stand_at(*gate, keeper));
  write(number, 6);
  EXPECT_EQ(read(number), 6);
  EXPECT_EQ(keeper.asked, 1);
  EXPECT_EQ(read(number), 6);
  EXPECT_EQ(keeper.asked, 1) << "there is nothing left to wait for";
}

TEST_F(GatesOfAStream, ThatFailAreToldToWhoeverWaits) {
  Buffer<int> number(Device::kCuda, 1);
  const std::unique_ptr<Gate> gate = gpu_.stream->make_gate();
  Keeper keeper(*gpu_.stream);
  keeper.gates = {gate.get()};
  keeper.failure = "rank 1 is lost";
  gate->close();
  ASSERT_TRUE(gpu_.stream->stand_at(*gate, keeper));
  { const Buffer<int> other(Device::kCuda, 1); }  // gives memory back, and can't say what has failed
  EXPECT_EQ(keeper.asked, 2);
  for (int i = 0; i < 2; ++i) {
    write(number, 7);
    EXPECT_THROW(read(number), Error);
  }
  gpu_.stream->leave(keeper);
  EXPECT_EQ(read(number), 7);
}

TEST_F(GatesOfAStream, AreLeftToTheHostInTheFirstRoundsOfAKind) {
  const std::unique_ptr<Gate> gate = gpu_.stream->make_gate();
  Keeper keeper(*gpu_.stream);
  gate->close();
  for (int round = 0; round < 2; ++round) {
    gpu_.stream->begin_round(Round::kEvaluation);
    EXPECT_FALSE(gpu_.stream->stand_at(*gate, keeper));
  }
  gpu_.stream->begin_round(Round::kEvaluation);
  EXPECT_TRUE(gpu_.stream->stand_at(*gate, keeper));
  gate->open();
}

TEST_F(GatesOfAStream, DontBlockWhateverAsksTheWholeGpu) {
  const std::unique_ptr<Gate> gate = gpu_.stream->make_gate();
  Keeper keeper(*gpu_.stream);
  keeper.gates = {gate.get()};
  gate->close();
  ASSERT_TRUE(gpu_.stream->stand_at(*gate, keeper));
  const Buffer<int> asked_for(Device::kCuda, 1);
  EXPECT_EQ(keeper.asked, 1) << "before memory is asked for";
}

TEST(GatesWithoutADriver, ThereAreNone) {
  install_backend(&cuda::backend());
  emulated::hide_value_waits(true);
  {
    const OpenDevice gpu = backend().open(0);
    gpu.stream->use_gates();
    EXPECT_EQ(gpu.stream->make_gate(), nullptr);
  }
  emulated::hide_value_waits(false);
  install_backend(nullptr);
}

using EmulatedDeathTest = GatesOfAStream;
TEST_F(EmulatedDeathTest, EndsWhereMemoryIsAskedForWhileAStreamWaits) {
  void* data = nullptr;
  EXPECT_DEATH(
      {
        const std::unique_ptr<Gate> gate = gpu_.stream->make_gate();
        Keeper keeper(*gpu_.stream);
        gate->close();
        gpu_.stream->stand_at(*gate, keeper);
        cudaMalloc(&data, 1);
      },
      "cudaMalloc while a stream waits for a value");
}

}  // namespace
}  // namespace atl::test
