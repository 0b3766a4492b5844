// What a plan says of strategy `p3`: what features by columns send, beside what they would send by rows.
#pragma once

#include <algorithm>

#include "plan/strategy_plan.h"

namespace atl {

/// What all ranks send in an epoch with features held by columns, and what they would send with features held
/// by rows.
struct ColumnsPlan {
  int pieces = 1, copies = 1;  // pieces of the columns, and how many holders have the same one
  Index width = 0;             // of the products that are made whole
  bool after_gather = true;    // false: they are an encoder's, of every row that batches read
  int value_bytes = 4;
  double rows = 0;     // how many rows' products are made whole
  double pushed = 0;   // bytes of batches' first layers …
  double summed = 0;   // … of summands, scores and gradients …
  double by_rows = 0;  // … and, if features were held by rows, of features
  double sent() const { return pushed + summed; }
  /// The two terms of `summed`: the bytes of one column of the products, forward and backward; and those of
  /// attention's scores, which don't depend on the width.
  double a_column() const { return 2.0 * (pieces - 1) * rows * value_bytes; }
  double scores() const {
    constexpr double kRounding = 1e-6;  // relative error, since some batches' figures stand for all
    const double rest = summed - a_column() * double(width);
    return rest > kRounding * summed ? rest : 0;
  }
  /// The width at which columns and rows send equally many bytes; 0: none, because rows send less at any
  /// width, or because nothing is summed.
  double equal_width() const {
    return a_column() > 0 ? std::max(0.0, (by_rows - pushed - scores()) / a_column()) : 0;
  }
};

class ColumnsSection final : public PlanSection {
 public:
  explicit ColumnsSection(const ColumnsPlan& columns) : columns_(columns) {}

  std::string text() const override;
  void enter(nlohmann::ordered_json& plan) const override;
  /// Warns where evaluations send a multiple of what epochs do.
  std::vector<std::string> lines(const JobPlan& plan, const Job& job) const override;

  const ColumnsPlan& columns() const { return columns_; }

 private:
  ColumnsPlan columns_;
};

/// Dry runs of a rank's batches by columns (StrategyPlan::columns), and of evaluation's slabs.
std::unique_ptr<DryColumns> dry_batches_in_flight(const DryColumnsInput& in);
std::unique_ptr<SlabColumns> slabs_by_columns(const Model& model, std::vector<ColumnShare> shares);

}  // namespace atl
