#include "telemetry/report/explained.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/readable.h"

namespace atl {
namespace {

constexpr std::size_t kShown = 8;       // of vertices, and of columns
constexpr std::size_t kMostRanks = 64;  // that have a row

std::string named(const std::vector<ExplainedFigures::Named>& all, double middle, double least) {
  if (all.empty()) return "–";
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, all.size()); ++i)
    text += fmt::format("{}{} <small>{:.3f}</small>", i == 0 ? "" : ", ", all[i].id, all[i].mask);
  return text + fmt::format(" <small>· median {:.3f}, least {:.3f}</small>", middle, least);
}

std::string row(std::size_t rank, const ExplainedFigures& f) {
  const double each = f.explanations > 0 ? f.seconds / double(f.explanations) : 0;
  const std::string made =
      f.epochs == 0 ? "no masks applied"
                    : fmt::format("{} × {}, {} epochs, loss {:.3g} → {:.3g}", count_text(f.explanations),
                                  duration_text(each), f.epochs, f.first_loss, f.loss);
  return fmt::format(
      "<tr><td>rank {}</td><td>{} vertices: {}</td><td>{} of {} features: {}</td><td>{}</td></tr>", rank,
      count_text(f.others), named(f.vertices, f.middle_vertex, f.least_vertex), count_text(f.chosen),
      count_text(f.features), named(f.columns, f.middle_column, f.least_column), made);
}

}  // namespace

std::string explained_tables(const RunRecord& run) {
  std::string rows;
  for (std::size_t rank = 0; rank < std::min(kMostRanks, run.explained.size()); ++rank)
    rows += row(rank, run.explained[rank]);
  if (rows.empty()) return "";
  if (run.explained.size() > kMostRanks)
    rows += fmt::format("<tr><td>and {} more</td></tr>", run.explained.size() - kMostRanks);
  return "<table class=pairs><tr><th>part</th><th>of other ranks</th><th>features</th><th>explained</th></tr>" +
         rows + "</table>";
}

}  // namespace atl
