// A few parameters in slices and groups on ranks as threads, trained with gradients from a formula.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "comm/ranks.h"
#include "train/checkpoint/run_state.h"
#include "train/gradient.h"
#include "train/small_job.h"

namespace atl {

/// Two layers with weights, one without, and a running statistic.
inline std::vector<std::vector<ParameterSpec>> specs() {
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

inline bool is_sliced(int layer, const ParameterSpec& spec) {
  return layer == 0 && spec.name == "weight";
}

/// P3: the rows of layer 0's weight are divided, everything else is on every rank.
inline Placement two_slices(Rank rank, int layer, const ParameterSpec& spec) {
  if (!is_sliced(layer, spec)) return {};
  return rank == 0 ? Placement{{{0, 4}}, {0}} : Placement{{{4, 3}}, {1}};
}
/// Rank 1 of three has an empty slice.
inline Placement an_empty_slice(Rank rank, int layer, const ParameterSpec& spec) {
  if (!is_sliced(layer, spec)) return {};
  return rank == 0 ? Placement{{{0, 2}}, {0}} : rank == 1 ? Placement{{}, {1}} : Placement{{{2, 5}}, {2}};
}
/// P3 with SAGE: own and neighbours' weights of the same columns.
inline Placement two_ranges(Rank rank, int layer, const ParameterSpec& spec) {
  if (!is_sliced(layer, spec)) return {};
  return rank == 0 ? Placement{{{0, 2}, {4, 1}}, {0}} : Placement{{{2, 2}, {5, 2}}, {1}};
}
/// Two servers with the same slices.
inline Placement slices_twice(Rank rank, int layer, const ParameterSpec& spec) {
  if (!is_sliced(layer, spec)) return {};
  return rank % 2 == 0 ? Placement{{{0, 3}}, {0, 2}} : Placement{{{3, 4}}, {1, 3}};
}
/// GNNPipe: only a stage's ranks have its layers. The first of two stages has one rank of four.
inline Placement two_stages(Rank rank, int layer, const ParameterSpec& spec) {
  const std::vector<Rank> stage = layer == 0 ? std::vector<Rank>{0} : std::vector<Rank>{1, 2, 3};
  std::vector<RowRange> rows;
  if ((rank == 0) == (layer == 0)) rows.push_back({0, spec.rows});
  return {rows, stage};
}
inline Placement everywhere(Rank, int, const ParameterSpec&) {
  return {};
}

inline const PlacedRanks kWhole{"one rank", 1, everywhere};
inline const PlacedRanks kLayouts[] = {
    {"everywhere", 3, everywhere},     {"two slices", 2, two_slices}, {"an empty slice", 3, an_empty_slice},
    {"slices twice", 4, slices_twice}, {"two stages", 4, two_stages}, {"two ranges", 2, two_ranges}};

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
inline std::vector<Real> after_steps(const PlacedRanks& layout, std::int64_t steps) {
  std::vector<Real> values;
  run_ranks(layout.ranks, [&](Communicator& comm) {
    Trained t(comm, layout);
    t.train(1, steps);
    const std::vector<Real> whole = t.whole(steps);
    if (comm.rank() == 0) values = whole;
  });
  return values;
}

inline void expect_near(const std::vector<Real>& values, const std::vector<Real>& whole,
                        const std::string& what) {
  ASSERT_EQ(values.size(), whole.size()) << what;
  for (std::size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(values[i], whole[i], 1e-13) << what << ", " << i;
}

}  // namespace atl
