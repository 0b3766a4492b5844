#include "plan/columns_plan.h"

#include <fmt/format.h>

#include "base/readable.h"

namespace atl {
namespace {

std::string verdict(const ColumnsPlan& p) {
  if (p.pieces == 1) return "every rank has all columns: no features and no summands travel";
  const double by_columns = p.sent(), by_rows = p.by_rows;
  const std::string crossing = p.crossing() > 0
                                   ? fmt::format("they send the same at a width of {:.0f}", p.crossing())
                                   : "they send the same at no width";
  if (by_columns < by_rows)
    return fmt::format("columns win, {:.2f} × fewer bytes; {}", by_rows / by_columns, crossing);
  return fmt::format("rows win, {:.2f} × fewer bytes; {}: use strategy minibatch, or more copies",
                     by_columns / std::max(1.0, by_rows), crossing);
}

std::string scores_text(const ColumnsPlan& p) {
  return p.scores() > 0 ? ", attention's scores " + bytes_text(p.scores()) : "";
}

}  // namespace

std::string to_text(const std::optional<ColumnsPlan>& plan) {
  if (!plan) return "";
  const ColumnsPlan& p = *plan;
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

}  // namespace atl
