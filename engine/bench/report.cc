// Results of benchmarks for people and for programs.
#include <fmt/format.h>
#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "bench/bench.h"
#include "bench/strategy_bench.h"

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

// A comparison of strategies for a terminal.

namespace {

std::string head(const StrategyBench& bench) {
  const RunRecord& run = bench.rows[0].runs->rounds[0];
  const RunSetting& s = run.setting;
  std::string text = fmt::format("{} on {}, {}, {} of {}", s.model, s.dataset, counted_text(s.ranks, "rank"),
                                 counted_text(std::int64_t(bench.rows[0].speed_ups.size()), "round"),
                                 counted_text(s.epochs, "epoch"));
  if (!bench.link.empty()) text += fmt::format(", links of {}", bench.link);
  if (bench.share_asked > 0)
    text += fmt::format(" (communication takes {:.1f} % of graph:overlap=false; --comm-share is {:.1f} %)",
                        100 * bench.share_reached, 100 * bench.share_asked);
  return text + "\n" + s.machine + "\n\n";
}

std::string name_of(const StrategyRow& row) {
  return row.again ? row.label + " again" : row.label;
}

/// "1.47 (1.45–1.49)"
std::string speed_up(const StrategyRow& row) {
  const auto [low, high] = std::minmax_element(row.speed_ups.begin(), row.speed_ups.end());
  return fmt::format("{:.2f} ({:.2f}–{:.2f})", row.speed_up(), *low, *high);
}

std::string times(const StrategyBench& bench, std::size_t width) {
  std::string text =
      fmt::format("{:<{}}  {:>8} {:>8}  {:<16}  {:>8} {:>8} {:>8}  {:>8} {:>5}  {}\n", "", width, "epoch",
                  "least", "speed-up", "compute", "exposed", "comm.", "ideal", "ratio", "bound by");
  for (const StrategyRow& row : bench.rows) {
    text +=
        fmt::format("{:<{}}  {:>8} {:>8}  {:<16}  {:>8} {:>8} {:>8}  {:>8} {:>5.2f}  {}\n", name_of(row),
                    width, duration_text(row.epoch_median), duration_text(row.epoch_min), speed_up(row),
                    duration_text(row.compute), duration_text(row.exposed), duration_text(row.communication),
                    duration_text(row.ideal), row.epoch_over_ideal(), row.bound);
  }
  const auto [low, high] = bench.noise();
  return text + fmt::format("speed-ups of {:.3f}–{:.3f} are noise (the first strategy against itself)\n\n",
                            low, high);
}

std::string sent(const StrategyRow& row) {
  std::string text;
  for (const LinkTraffic& t : row.bytes)
    text +=
        fmt::format("{}{} {} {}", text.empty() ? "" : ", ", t.link, t.purpose, bytes_text(double(t.bytes)));
  if (text.empty()) return "nothing";
  switch (row.runs->epochs) {
    case PlannedBytes::kOfTheFirst:
      return text + ": drawn anew in each epoch";
    case PlannedBytes::kTheMost:
      return text + ": no more than planned";
    case PlannedBytes::kOfEach:
      return text + ": as planned";
  }
  ATOLL_CHECK(false, "planned bytes of epochs {}", int(row.runs->epochs));
}

std::string results(const StrategyBench& bench, std::size_t width) {
  std::string text = fmt::format("{:<{}}  {:>8}  {:>9}  {:>10}  {}\n", "", width, "test", "progress",
                                 "memory", "sent by all ranks in an epoch");
  for (const StrategyRow& row : bench.rows) {
    if (row.again) continue;
    const auto most = std::max_element(row.memory.begin(), row.memory.end());
    text += fmt::format("{:<{}}  {:>8}  {:>9}  {:>10}  {}\n", row.label, width,
                        row.test ? percent_text(*row.test) : "–", duration_text(row.progress_cpu),
                        most == row.memory.end() ? "–" : bytes_text(double(*most)), sent(row));
  }
  return text +
         "progress: processor time of the communication thread per epoch; memory: the largest rank's peak\n";
}

}  // namespace

std::string to_text(const StrategyBench& bench) {
  std::size_t width = 0;
  for (const StrategyRow& row : bench.rows) width = std::max(width, name_of(row).size());
  return head(bench) + times(bench, width) + results(bench, width);
}

}  // namespace atl
