// Checkpoints of parameters in slices and groups: written whole, and resumed by any other layout.
#include <gmock/gmock.h>

#include "train/placed_training.h"

namespace atl {
namespace {

/// A checkpoint of any layout is the whole model's, and goes on in any other.
TEST(PlacementCheckpoint, CheckpointsAreWholeAndGoOnOnOtherRanks) {
  const std::vector<Real> at_3 = after_steps(kWhole, 3), at_6 = after_steps(kWhole, 6);
  TemporaryFolder folder;
  for (const PlacedRanks& from : kLayouts) {
    const std::filesystem::path file = folder / from.name;
    run_ranks(from.ranks, [&](Communicator& comm) {
      Trained t(comm, from);
      t.train(1, 3);
      WholeTensors tensors(comm, t.parameters);
      const CheckpointState state =
          state_of({t.parameters, t.optimizer, t.best, t.epoch}, t.job, {}, comm.size(), {3, 0}, tensors);
      if (comm.rank() == 0) write_checkpoint_state(file, state);
    });
    const LoadedCheckpoint checkpoint = read_checkpoint_state(file);
    EXPECT_EQ(checkpoint.file.find("layers.0.weight")->shape, (std::vector<Index>{7, 3})) << from.name;
    for (const PlacedRanks& to : kLayouts) {
      run_ranks(to.ranks, [&](Communicator& comm) {
        Trained t(comm, to);
        load_state(checkpoint, t.job, {}, {t.parameters, t.optimizer, t.best, t.epoch});
        const std::string what = fmt::format("{}, then {}", from.name, to.name);
        const std::vector<Real> loaded = t.whole(3);
        if (comm.rank() == 0) expect_near(loaded, at_3, what);
        t.train(4, 6);
        const std::vector<Real> trained = t.whole(6);
        if (comm.rank() == 0) expect_near(trained, at_6, what);
      });
    }
  }
}

TEST(PlacementCheckpoint, ASliceOfAnotherShapeIsRefused) {
  TemporaryFolder folder;
  const std::vector<Real> values(7 * 4);
  write_safetensors(folder / "m", std::vector{tensor_view("layers.0.weight", {7, 4}, values.data())}, {});
  run_ranks(2, [&](Communicator& comm) {
    Trained t(comm, kLayouts[1]);
    const SafetensorsFile file = SafetensorsFile::read(folder / "m");
    EXPECT_THAT(
        error_of([&] { read_held_rows(file, t.parameters, t.parameters.values().data(), "", false); }),
        testing::HasSubstr("[7,4], but this run's is F64 [7,3]"));
  });
}

}  // namespace
}  // namespace atl
