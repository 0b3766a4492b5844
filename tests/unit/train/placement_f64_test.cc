// Parameters that live in slices and groups: initial values, steps, clipping and checkpoints are those of one rank that
// holds everything, and each rank holds its own rows alone.
#include <gmock/gmock.h>

#include "comm/ranks.h"
#include "train/gradient.h"
#include "train/run_state.h"
#include "train/small_job.h"

namespace atl {
namespace {

using testing::HasSubstr;

/// Two layers with weights, one without, and a running statistic.
std::vector<std::vector<ParameterSpec>> specs() {
  return {{{"weight", 7, 3}, {"bias", 1, 3}},
          {},
          {{"weight", 3, 5, Init::kGlorot, DecayGroup::kDense},
           {"mean", 1, 5, Init::kOne, DecayGroup::kNone, 0, 0, false}}};
}

struct Layout {
  const char* name;
  int ranks;
  Placement (*place)(Rank rank, int layer, const ParameterSpec& spec);
};

bool is_sliced(int layer, const ParameterSpec& spec) {
  return layer == 0 && spec.name == "weight";
}

/// P3: the rows of layer 0's weight are cut, everything else is everywhere.
Placement two_slices(Rank rank, int layer, const ParameterSpec& spec) {
  if (!is_sliced(layer, spec)) return {};
  return rank == 0 ? Placement{0, 4, {0}} : Placement{4, 3, {1}};
}
/// Rank 1 of three has none of them.
Placement an_empty_slice(Rank rank, int layer, const ParameterSpec& spec) {
  if (!is_sliced(layer, spec)) return {};
  return rank == 0 ? Placement{0, 2, {0}} : rank == 1 ? Placement{2, 0, {1}} : Placement{2, 5, {2}};
}
/// Two servers with the same slices.
Placement slices_twice(Rank rank, int layer, const ParameterSpec& spec) {
  if (!is_sliced(layer, spec)) return {};
  return rank % 2 == 0 ? Placement{0, 3, {0, 2}} : Placement{3, 4, {1, 3}};
}
/// GNNPipe: a stage's layers are on its ranks alone. The first of two stages has one rank of four.
Placement two_stages(Rank rank, int layer, const ParameterSpec& spec) {
  const std::vector<Rank> stage = layer == 0 ? std::vector<Rank>{0} : std::vector<Rank>{1, 2, 3};
  return {0, (rank == 0) == (layer == 0) ? spec.rows : 0, stage};
}
Placement everywhere(Rank, int, const ParameterSpec&) {
  return {};
}

const Layout kWhole{"one rank", 1, everywhere};
const Layout kLayouts[] = {{"everywhere", 3, everywhere},
                           {"two slices", 2, two_slices},
                           {"an empty slice", 3, an_empty_slice},
                           {"slices twice", 4, slices_twice},
                           {"two stages", 4, two_stages}};

/// What one rank trains with gradients that a formula gives.
struct Trained {
  Trained(Communicator& comm_, const Layout& layout)
      : comm(comm_),
        parameters(
            specs(), 5,
            [&](int layer, const ParameterSpec& spec) { return layout.place(comm.rank(), layer, spec); }),
        gradient(comm, parameters),
        optimizer(job.training.optimizer, parameters) {
    ctx.pool = &pool;
    ctx.workspace = &workspace;
  }

  /// This rank's share of each gradient: replicas' shares halve from one to the next and add up to the whole.
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
      for (Index at = 0; at < e.count; ++at) {
        const auto row = std::uint64_t(e.placement.row_begin + at / e.spec.cols);
        parameters.gradients()[std::size_t(e.offset + at)] =
            Real(share * (draws.uniform_at(row, std::uint64_t(at % e.spec.cols)) - 0.5));
      }
    }
  }

  /// Steps first … last, and their evaluations, of which the second is the best.
  void train(std::int64_t first, std::int64_t last) {
    for (std::int64_t step = first; step <= last; ++step) {
      set_gradients(step);
      gradient.sum(ctx);
      ASSERT_TRUE(gradient.finite(ctx));
      gradient.clip(ctx, 0.3);
      optimizer.step(ctx, 0.01);
      Evaluation evaluation;
      evaluation.validation = step == 2 ? 0.9 : 0.5;
      best.consider(step, evaluation, parameters);
    }
  }

  /// On rank 0: all that training changed, whole. Collective.
  std::vector<Real> whole(std::int64_t step) {
    WholeTensors tensors(comm, parameters);
    const CheckpointState state =
        state_of({parameters, optimizer, best}, job, {}, comm.size(), step, tensors);
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
};

/// Weights, moments and the best weights after so many steps on `layout`.
std::vector<Real> after_steps(const Layout& layout, std::int64_t steps) {
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
  for (const Layout& layout : kLayouts) {
    run_ranks(layout.ranks, [&](Communicator& comm) {
      Trained t(comm, layout);
      Index held = 0;
      for (int layer : {0, 2}) {
        for (int i = 0; i < t.parameters.count_in(layer); ++i) {
          const Placement p = layout.place(comm.rank(), layer, specs()[std::size_t(layer)][std::size_t(i)]);
          const ConstMatrixView mine = std::as_const(t.parameters).value(layer, i),
                                all = whole.value(layer, i);
          ASSERT_EQ(mine.rows, p.row_count < 0 ? all.rows : p.row_count) << layout.name;
          held += mine.rows * mine.cols;
          for (Index r = 0; r < mine.rows; ++r) {
            for (Index c = 0; c < mine.cols; ++c)
              EXPECT_EQ(mine.at(r, c), all.at(p.row_begin + r, c)) << layout.name;
          }
        }
      }
      EXPECT_EQ(Index(t.parameters.values().size()), held)
          << layout.name << ": nothing is allocated but held rows";
      EXPECT_EQ(t.parameters.whole_trainable(), 7 * 3 + 3 + 3 * 5) << layout.name;
    });
  }
}

/// Summing a slice's gradient, counting a replica's twice in the norm, or one rank's norm alone, would each show.
TEST(Placement, StepsAreThoseOfOneRank) {
  const std::vector<Real> whole = after_steps(kWhole, 4);
  for (const Layout& layout : kLayouts) expect_near(after_steps(layout, 4), whole, layout.name);
}

TEST(Placement, ClippingIsOfTheWholeNorm) {
  for (const Layout& layout : kLayouts) {
    run_ranks(layout.ranks, [&](Communicator& comm) {
      Trained t(comm, layout);
      for (Real& g : t.parameters.gradients()) g = 1;
      t.gradient.clip(t.ctx, 1);  // as if summed: 39 elements of 1, each counted once
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
    EXPECT_EQ(comm.ledger().flow(Link::kIntra, Traffic::kGradient).bytes, (3 + 3 * 5) * Index(sizeof(Real)));
  });
}

TEST(Placement, EveryRankHearsOfASliceThatIsNotFinite) {
  for (const Layout& layout : kLayouts) {
    run_ranks(layout.ranks, [&](Communicator& comm) {
      Trained t(comm, layout);
      if (comm.rank() == comm.size() - 1) t.parameters.gradients()[0] = std::numeric_limits<Real>::infinity();
      t.gradient.sum(t.ctx);
      EXPECT_FALSE(t.gradient.finite(t.ctx)) << layout.name << ", rank " << comm.rank();
    });
  }
}

/// A checkpoint of any layout is the whole model's, and goes on in any other.
TEST(Placement, CheckpointsAreWholeAndGoOnOnOtherRanks) {
  const std::vector<Real> at_3 = after_steps(kWhole, 3), at_6 = after_steps(kWhole, 6);
  TemporaryFolder folder;
  for (const Layout& from : kLayouts) {
    const std::filesystem::path file = folder / from.name;
    run_ranks(from.ranks, [&](Communicator& comm) {
      Trained t(comm, from);
      t.train(1, 3);
      WholeTensors tensors(comm, t.parameters);
      const CheckpointState state =
          state_of({t.parameters, t.optimizer, t.best}, t.job, {}, comm.size(), 3, tensors);
      if (comm.rank() == 0) write_checkpoint_state(file, state);
    });
    const LoadedCheckpoint checkpoint = read_checkpoint_state(file);
    EXPECT_EQ(checkpoint.file.find("layers.0.weight")->shape, (std::vector<Index>{7, 3})) << from.name;
    for (const Layout& to : kLayouts) {
      run_ranks(to.ranks, [&](Communicator& comm) {
        Trained t(comm, to);
        load_state(checkpoint, t.job, {}, {t.parameters, t.optimizer, t.best});
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

TEST(Placement, ASliceOfAnotherShapeIsRefused) {
  TemporaryFolder folder;
  const std::vector<Real> values(7 * 4);
  write_safetensors(folder / "m", std::vector{tensor_view("layers.0.weight", {7, 4}, values.data())}, {});
  run_ranks(2, [&](Communicator& comm) {
    Trained t(comm, kLayouts[1]);
    const SafetensorsFile file = SafetensorsFile::read(folder / "m");
    EXPECT_THAT(
        error_of([&] { read_held_rows(file, t.parameters, t.parameters.values().data(), "", false); }),
        HasSubstr("[7,4] where this run has F64 [7,3]"));
  });
}

}  // namespace
}  // namespace atl
