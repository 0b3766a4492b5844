// The best epoch so far by validation, its weights, and whether patience has run out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "job/job.h"
#include "model/parameters.h"
#include "train/evaluation.h"

namespace atl {

class Best {
 public:
  explicit Best(const EarlyStoppingSpec& spec) : spec_(spec) {}
  ~Best();
  Best(const Best&) = delete;
  Best& operator=(const Best&) = delete;

  /// Call after an evaluation at `epoch`. If it is better than all before, copies the weights in the order of
  /// the stream. Of equal epochs the first is best. An evaluation without a number (no validation vertices,
  /// or a ROC-AUC of one class) is worse than any number; while there is no other, the newest counts as best.
  /// NaN and infinity never do.
  void consider(Index epoch, const Evaluation& evaluation, Parameters& parameters, DeviceStream& stream);
  /// True when `patience` epochs have passed since the best one.
  bool patience_over(Index epoch) const;
  /// Puts the best epoch's weights into `parameters`, or does nothing where nothing was ever evaluated.
  void restore(Parameters& parameters) const;

  Index epoch() const { return epoch_; }
  std::optional<double> validation() const { return validation_; }
  std::optional<double> test() const { return test_; }
  // (1, values) of the best epoch; empty before there is one. Waits until they are copied.
  Matrix& weights();

  /// For checkpoints.
  void save(std::map<std::string, double>& scalars) const;
  void load(const std::map<std::string, double>& scalars);

 private:
  void wait_for_weights() const;

  EarlyStoppingSpec spec_;
  Index epoch_ = 0;
  double score_ = 0;  // larger is better
  std::optional<double> validation_, test_;
  Matrix weights_;
  mutable DeviceStream* bringing_ = nullptr;  // the stream that may still be copying them
};

// The sums over the steps of an epoch. With them a run that was killed between two steps goes on in the
// middle of its epoch.

/// Sums over all ranks, except the seconds.
struct EpochSoFar {
  double loss = 0;      // Σ of the loss …
  double vertices = 0;  // … over so many vertices
  double seconds = 0;
  std::int64_t bytes_intra = 0, bytes_inter = 0;
  std::int64_t steps = 0;  // how many the whole epoch has

  /// For checkpoints.
  void save(std::map<std::string, double>& scalars) const;
  /// Zeros where the scalars lack them.
  void load(const std::map<std::string, double>& scalars);
};

// Counts that checkpoints keep among their scalars, as doubles.

/// The count that `scalar` holds; 0 where it can't be a count.
inline std::int64_t saved_count(double scalar) {
  return scalar >= 0 && scalar < 0x1p63 ? std::int64_t(scalar) : 0;
}

}  // namespace atl
