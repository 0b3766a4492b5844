#include "strategies/p3/plan.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "strategies/p3/push_pull_pass.h"

namespace atl {
namespace {

std::string verdict(const ColumnsPlan& p) {
  if (p.pieces == 1) return "every rank has all columns: no features and no summands travel";
  const double by_columns = p.sent(), by_rows = p.by_rows;
  const std::string equal = p.equal_width() > 0
                                ? fmt::format("they send the same at a width of {:.0f}", p.equal_width())
                                : "they send the same at no width";
  if (by_columns < by_rows)
    return fmt::format("columns win, {:.2f} × fewer bytes; {}", by_rows / by_columns, equal);
  return fmt::format("rows win, {:.2f} × fewer bytes; {}: use strategy minibatch, or more copies",
                     by_columns / std::max(1.0, by_rows), equal);
}

std::string scores_text(const ColumnsPlan& p) {
  return p.scores() > 0 ? ", attention's scores " + bytes_text(p.scores()) : "";
}

std::shared_ptr<const PlanSection> columns_section(const SectionInput& in, JobPlan&) {
  const ColumnShare share = *columns_of(in.job, 0, in.meta.features);
  const Model model =
      planned_model(in.job, features_on(in.job, 0, feature_shape(in.job, in.meta)), in.meta.classes);
  const SplitLayers split(model);
  ColumnsPlan plan{.pieces = share.members(),
                   .copies = in.job.placement.ranks / share.members(),
                   .width = model.spec(split.whole).out,
                   .after_gather = split.hops > 0};
  plan.value_bytes = in.job.wire() == Precision::kBFloat16 ? 2 : sizeof(Real);
  for (const DryBatches& each : in.batches) {
    plan.rows += each.whole_rows;
    plan.by_rows += each.by_rows;
    plan.pushed += each.pushed;
    for (const Traffic purpose : {Traffic::kPartial, Traffic::kPartialGradient})
      plan.summed += double(each.run.epoch[std::size_t(purpose)]);
  }
  return std::make_shared<const ColumnsSection>(plan);
}

}  // namespace

StrategyPlan p3_plan() {
  return {.kind = "p3",
          .section = columns_section,
          .columns = dry_batches_in_flight,
          .slab_columns = slabs_by_columns};
}

std::string ColumnsSection::text() const {
  const ColumnsPlan& p = columns_;
  std::string text = fmt::format(
      "features by columns: {} of them, each on {}; the first product of {} rows is made whole at a width of {}\n",
      counted_text(p.pieces, "piece"), counted_text(p.copies, "rank"), count_text(Index(p.rows)), p.width);
  text += fmt::format(
      "  an epoch sends {} by columns (batches' arcs and ids {}, summands and gradients {}{}), "
      "{} by rows: {}\n",
      bytes_text(p.sent()), bytes_text(p.pushed), bytes_text(p.summed - p.scores()), scores_text(p),
      bytes_text(p.by_rows), verdict(p));
  if (!p.after_gather && p.pieces > 1)
    text +=
        "  the first layer is an encoder: its product is made whole for every row that batches read, not for the "
        "fewer rows that a first convolution leaves, and little is saved\n";
  return text + "\n";
}

void ColumnsSection::enter(nlohmann::ordered_json& plan) const {
  const ColumnsPlan& c = columns_;
  plan["columns"] = {{"pieces", c.pieces},
                     {"copies", c.copies},
                     {"width", c.width},
                     {"wholeRows", c.rows},
                     {"afterGather", c.after_gather},
                     {"pushedBytes", c.pushed},
                     {"summedBytes", c.summed},
                     {"scoreBytes", c.scores()},
                     {"bytesByColumns", c.sent()},
                     {"bytesByRows", c.by_rows},
                     {"crossingWidth", c.equal_width()},
                     {"columnsWin", c.pieces == 1 || c.sent() < c.by_rows}};
}

std::vector<std::string> ColumnsSection::lines(const JobPlan& plan, const Job& job) const {
  const std::string told = costly_evaluations(plan, job);
  return told.empty() ? std::vector<std::string>{} : std::vector{"warning: " + told};
}

}  // namespace atl
