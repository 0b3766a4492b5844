// Parameters in slices and groups: initial values, updates and clipping equal those of one rank with
// everything, and each rank holds only its own rows.
#include <limits>

#include "train/placed_training.h"

namespace atl {
namespace {

TEST(Placement, ARankHoldsItsRowsOfTheWholesInitialValues) {
  const Parameters whole(specs(), 5);
  for (const PlacedRanks& layout : kLayouts) {
    run_ranks(layout.ranks, [&](Communicator& comm) {
      Trained t(comm, layout);
      Index held = 0;
      for (int layer : {0, 2}) {
        for (int i = 0; i < t.parameters.count_in(layer); ++i) {
          const Placement p = layout.place(comm.rank(), layer, specs()[std::size_t(layer)][std::size_t(i)]);
          const ConstMatrixView mine = std::as_const(t.parameters).value(layer, i),
                                all = whole.value(layer, i);
          ASSERT_EQ(mine.rows, p.held(all.rows)) << layout.name;
          held += mine.rows * mine.cols;
          for (Index r = 0, at = 0; r < Index(p.rows.size()); ++r) {
            const RowRange& range = p.rows[std::size_t(r)];
            for (Index row = range.begin;
                 at < mine.rows && row < all.rows && row - range.begin != range.count; ++row, ++at)
              for (Index c = 0; c < mine.cols; ++c) EXPECT_EQ(mine.at(at, c), all.at(row, c)) << layout.name;
          }
        }
      }
      EXPECT_EQ(Index(t.parameters.values().size()), held)
          << layout.name << ": nothing is allocated but held rows";
      EXPECT_EQ(t.parameters.whole_trainable(), 7 * 3 + 3 + 3 * 5) << layout.name;
    });
  }
}

/// Summing a slice's gradient, counting a replica's twice in the norm, or one rank's norm alone, would each
/// show.
TEST(Placement, StepsAreThoseOfOneRank) {
  const std::vector<Real> whole = after_steps(kWhole, 4);
  for (const PlacedRanks& layout : kLayouts) expect_near(after_steps(layout, 4), whole, layout.name);
}

TEST(Placement, ClippingIsOfTheWholeNorm) {
  for (const PlacedRanks& layout : kLayouts) {
    run_ranks(layout.ranks, [&](Communicator& comm) {
      Trained t(comm, layout);
      for (Real& g : t.parameters.gradients()) g = 1;
      StepState state;
      t.gradient.clip(t.ctx, 1, &state);  // as if summed: 39 elements of 1, each counted once
      for (const Real g : t.parameters.gradients()) EXPECT_NEAR(g, 1 / std::sqrt(39.0), 1e-15) << layout.name;
    });
  }
}

TEST(Placement, ReplicasStayBitEqual) {
  run_ranks(4, [&](Communicator& comm) {
    Trained t(comm, kLayouts[4]);
    t.train(1, 4);
    const auto all = comm.all_gather(Traffic::kSetup, std::as_bytes(t.parameters.values()));
    EXPECT_EQ(all[1], all[2]);
    EXPECT_EQ(all[1], all[3]);
  });
}

TEST(Placement, ASlicesBytesStayOnItsRank) {
  run_ranks(2, [&](Communicator& comm) {
    Trained t(comm, kLayouts[1]);
    t.set_gradients(1);
    t.gradient.sum(t.ctx);
    EXPECT_EQ(comm.ledger().bytes(Link::kIntra, Traffic::kGradient), (3 + 3 * 5) * Index(sizeof(Real)));
  });
}

TEST(Placement, EveryRankHearsOfASliceThatIsNotFinite) {
  for (const PlacedRanks& layout : kLayouts) {
    run_ranks(layout.ranks, [&](Communicator& comm) {
      Trained t(comm, layout);
      if (comm.rank() == comm.size() - 1) t.parameters.gradients()[0] = std::numeric_limits<Real>::infinity();
      t.gradient.sum(t.ctx);
      StepState state;
      t.gradient.count_non_finite(t.ctx, &state);
      EXPECT_GT(state.not_finite, 0) << layout.name << ", rank " << comm.rank();
    });
  }
}

}  // namespace
}  // namespace atl
