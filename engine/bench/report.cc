// Rows of a benchmark for people and for programs.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "bench/bench.h"

namespace atl {

using Json = nlohmann::ordered_json;

std::string to_text(const MachineRates& r, const BenchMachine& machine) {
  return fmt::format("{}: triad {:.1f} GB/s, gather of 256-byte rows {:.1f} GB/s, products {:.1f} Gflop/s\n",
                     machine.gpu.empty() ? counted_text(machine.threads, "thread") : machine.gpu,
                     r.triad_bytes / 1e9, r.gather_bytes / 1e9, r.product_flops / 1e9);
}

std::string to_json(const MachineRates& r, const BenchMachine& machine) {
  Json json{{"event", "rates"}};
  if (machine.gpu.empty()) json["threads"] = machine.threads;
  if (!machine.gpu.empty()) json["gpu"] = machine.gpu;
  json["triadBytes"] = r.triad_bytes;
  json["gatherBytes"] = r.gather_bytes;
  json["productFlops"] = r.product_flops;
  return json.dump();
}

std::string to_text(const std::vector<BenchRow>& rows) {
  std::string text;
  for (const BenchRow& row : rows) {
    text += fmt::format("{:<40} {:>9}", row.name, duration_text(row.seconds));
    if (row.limit > 0)
      text += fmt::format("  limit {:>9}  ratio {:.2f}  ({})", duration_text(row.limit),
                          row.seconds / row.limit, row.formula);
    if (row.arcs > 0)
      text +=
          fmt::format("  {:.3g} million arcs, {:.3g} a second", row.arcs / 1e6, row.arcs / row.seconds / 1e6);
    if (!row.by.empty()) text += "  by " + row.by;
    for (const BenchRow::Way& way : row.ways)
      text +=
          fmt::format("{}{}: {}", &way == row.ways.data() ? " (" : ", ", way.by, duration_text(way.seconds));
    if (!row.ways.empty()) text += ")";
    text += "\n";
  }
  return text;
}

std::string to_json(const BenchRow& row) {
  Json json{{"event", "bench"}, {"name", row.name}, {"seconds", row.seconds}};
  if (row.limit > 0) {
    json["limitSeconds"] = row.limit;
    json["ratio"] = row.seconds / row.limit;
    json["formula"] = row.formula;
  }
  if (row.arcs > 0) json["arcsPerSecond"] = row.arcs / row.seconds;
  if (!row.by.empty()) json["by"] = row.by;
  for (const BenchRow::Way& way : row.ways) json["ways"][way.by] = way.seconds;
  return json.dump();
}

}  // namespace atl
