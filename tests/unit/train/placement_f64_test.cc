// Parameters in slices and groups, a few of them on ranks as threads, trained with gradients from a formula:
// initial values, updates and clipping equal those of one rank with everything, each rank holds only its own
// rows, and checkpoints are written whole and resumed by any other layout.
#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <vector>

#include "comm/ranks.h"
#include "train/checkpoint/run_state.h"
#include "train/gradient.h"
#include "train/small_job.h"

namespace atl {
namespace {

/// Two layers with weights, one without, and a running statistic.
std::vector<std::vector<ParameterSpec>> specs() {
  return {{{"weight", 7, 3}, {"bias", 1, 3}},
          {},
          {{"weight", 3, 5, Init::kGlorot, DecayGroup::kDense},
           {"mean", 1, 5, Init::kOne, DecayGroup::kNone, 0, 0, false}}};
}

struct PlacedRanks {
  const char* name;
  int ranks;
  Placement (*place)(Rank rank, int layer, const ParameterSpec& spec);
};

bool is_sliced(int layer, const ParameterSpec& spec) {
  return layer == 0 && spec.name == "weight";
}

/// P3: the rows of layer 0's weight are divided, everything else is on every rank.
Placement two_slices(Rank rank, int layer, const ParameterSpec& spec) {
  if (!is_sliced(layer, spec)) return {};
  return rank == 0 ? Placement{{{0, 4}}, {0}} : Placement{{{4, 3}}, {1}};
}
/// Rank 1 of three has an empty slice.
Placement an_empty_slice(Rank rank, int layer, const ParameterSpec& spec) {
  if (!is_sliced(layer, spec)) return {};
  return rank == 0 ? Placement{{{0, 2}}, {0}} : rank == 1 ? Placement{{}, {1}} : Placement{{{2, 5}}, {2}};
}
/// P3 with SAGE: own and neighbours' weights of the same columns.
Placement two_ranges(Rank rank, int layer, const ParameterSpec& spec) {
  if (!is_sliced(layer, spec)) return {};
  return rank == 0 ? Placement{{{0, 2}, {4, 1}}, {0}} : Placement{{{2, 2}, {5, 2}}, {1}};
}
/// Two servers with the same slices.
Placement slices_twice(Rank rank, int layer, const ParameterSpec& spec) {
  if (!is_sliced(layer, spec)) return {};
  return rank % 2 == 0 ? Placement{{{0, 3}}, {0, 2}} : Placement{{{3, 4}}, {1, 3}};
}
/// GNNPipe: only a stage's ranks have its layers. The first of two stages has one rank of four.
Placement two_stages(Rank rank, int layer, const ParameterSpec& spec) {
  const std::vector<Rank> stage = layer == 0 ? std::vector<Rank>{0} : std::vector<Rank>{1, 2, 3};
  std::vector<RowRange> rows;
  if ((rank == 0) == (layer == 0)) rows.push_back({0, spec.rows});
  return {rows, stage};
}
Placement everywhere(Rank, int, const ParameterSpec&) {
  return {};
}

const PlacedRanks kWhole{"one rank", 1, everywhere};
const PlacedRanks kLayouts[] = {{"everywhere", 3, everywhere},         {"two slices", 2, two_slices},
                                {"an empty slice", 3, an_empty_slice}, {"slices twice", 4, slices_twice},
                                {"two stages", 4, two_stages},         {"two ranges", 2, two_ranges}};

/// One rank's training with gradients from a formula.
struct Trained {
  Trained(Communicator& comm_, const PlacedRanks& layout)
      : comm(comm_),
        parameters(
            specs(), 5,
            [&](int layer, const ParameterSpec& spec) { return layout.place(comm.rank(), layer, spec); }),
        gradient(ctx, comm, parameters),
        optimizer(job.training.optimizer, parameters) {
    ctx.pool = &pool;
    ctx.workspace = &workspace;
  }

  /// Sets this rank's share of each gradient: replicas' shares halve from one to the next and sum to the
  /// whole.
  void set_gradients(std::int64_t step) {
    for (std::size_t i = 0; i < parameters.entries().size(); ++i) {
      const Parameters::Entry& e = parameters.entries()[i];
      if (!e.spec.trainable) continue;
      std::vector<Rank> replicas = e.placement.replicas;
      for (Rank r = 0; e.placement.everywhere() && r < comm.size(); ++r) replicas.push_back(r);
      double share = 1;
      for (const Rank r : replicas) {
        if (r != replicas.back()) share /= 2;
        if (r == comm.rank()) break;
      }
      const Draws draws(3, Purpose::kSampling, std::uint64_t(step), std::uint64_t(i));
      auto gradient_at = parameters.gradients().begin() + e.offset;
      for (const RowRange& range : e.placement.rows)
        for (Index row = range.begin; row < range.begin + range.count; ++row)
          for (Index c = 0; c < e.spec.cols; ++c)
            *gradient_at++ = Real(share * (draws.uniform_at(std::uint64_t(row), std::uint64_t(c)) - 0.5));
    }
  }

  /// Runs steps first … last with their evaluations, the second of which is the best.
  void train(std::int64_t first, std::int64_t last) {
    for (std::int64_t step = first; step <= last; ++step) {
      set_gradients(step);
      gradient.sum(ctx);
      StepState state;
      gradient.count_non_finite(ctx, &state);
      ASSERT_EQ(state.not_finite, 0);
      gradient.clip(ctx, 0.3, &state);
      take_step(ctx, optimizer, 0.01, state);
      Evaluation evaluation;
      evaluation.validation = step == 2 ? 0.9 : 0.5;
      best.consider(step, evaluation, parameters, *ctx.stream);
    }
  }

  /// On rank 0: everything that training changed, whole. Collective.
  std::vector<Real> whole(std::int64_t step) {
    WholeTensors tensors(comm, parameters);
    const CheckpointState state =
        state_of({parameters, optimizer, best, epoch}, job, {}, comm.size(), {Index(step), 0}, tensors);
    std::vector<Real> values;
    for (const TensorView& t : state.tensors) {
      const auto* data = reinterpret_cast<const Real*>(t.data);
      values.insert(values.end(), data, data + t.count());
    }
    return values;
  }

  Communicator& comm;
  Job job = small_job({"training.optimizer={kind: adam, learningRate: 0.01, weightDecay: 0.1}"});
  ThreadPool pool{1};
  Workspace workspace;
  Context ctx;
  Parameters parameters;
  Gradient gradient;
  Optimizer optimizer;
  Best best{EarlyStoppingSpec{}};
  EpochSoFar epoch;
};

/// Weights, moments and the best weights after so many steps on `layout`.
std::vector<Real> after_steps(const PlacedRanks& layout, std::int64_t steps) {
  std::vector<Real> values;
  run_ranks(layout.ranks, [&](Communicator& comm) {
    Trained t(comm, layout);
    t.train(1, steps);
    const std::vector<Real> whole = t.whole(steps);
    if (comm.rank() == 0) values = whole;
  });
  return values;
}

void expect_near(const std::vector<Real>& values, const std::vector<Real>& whole, const std::string& what) {
  ASSERT_EQ(values.size(), whole.size()) << what;
  for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(values[i], whole[i], 1e-13) << what << ", " << i;
}

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
