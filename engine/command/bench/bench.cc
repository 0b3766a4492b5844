// atoll bench: measures what this machine can do, and how near the kernels and whole epochs come to it.
#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/error.h"
#include "base/threads.h"
#include "bench/bench.h"
#include "bench/device_rates.h"
#include "command/commands.h"
#include "command/compare.h"
#include "command/job_data.h"
#include "train/rank_data.h"
#include "train/rank_device.h"

namespace atl {
namespace {

/// The device of a benchmark and its rates, which are printed first.
struct Bench {
  explicit Bench(const Arguments& a, DeviceChoice choice = DeviceChoice::kCpu, const GpuOptions& options = {})
      : json(a.has("--json")),
        pool(int(a.integer("--threads", available_cores(), 1, 1024))),
        device(open_device(choice, 0, options)),
        rates(measured()) {
    if (!device.why_not_gpu.empty()) say("the CPU is measured: " + device.why_not_gpu);
    const BenchMachine machine{pool.threads(), device.open.name};
    print(json ? to_json(rates, machine) + "\n" : to_text(rates, machine));
  }
  void report(const std::vector<BenchRow>& rows) const {
    if (!json) return print(to_text(rows));
    for (const BenchRow& row : rows) print(to_json(row) + "\n");
  }
  static void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  MachineRates measured() {
    say("measuring this machine, a few seconds where nothing else runs");
    return device.device == Device::kCpu ? measure_rates(ctx) : measure_device_rates(ctx);
  }

  bool json;
  ThreadPool pool;
  RankDevice device;
  Workspace workspace{device.device};
  Context ctx{device.device, &pool, &workspace, &device.stream()};
  MachineRates rates;
};

std::vector<Index> parse_columns(const std::string& text) {
  std::vector<Index> columns;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    Index value = 0;
    const auto [behind, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 1 || (behind < end && *behind != ',')) break;
    columns.push_back(value);
    at = behind + 1;
  }
  if (at < end || columns.empty())
    fail("--columns: '{}' is not allowed (use numbers from 1, as in 64,256)", text);
  return columns;
}

int run_machine(const Arguments& a) {
  Bench bench(a);
  return 0;
}

int run_ops(const Arguments& a) {
  const std::vector<Index> columns = parse_columns(a.get("--columns", "64,256"));
  const auto heads = int(a.integer("--heads", 8, 1, 1024));
  for (const Index width : columns)
    if (width % heads != 0)
      fail("--columns {}: is not a multiple of --heads {} (use a multiple)", width, heads);
  const DeviceChoice device = device_choice(a.get("--device", "cpu"));
  const Dataset dataset = Dataset::open(stored_dataset(a.get("DATASET")), prepared_place(a));
  GraphTransforms transforms;
  transforms.self_loops = GraphTransforms::SelfLoops::kAdd;
  const PreparedGraph prepared = PreparedGraph::make(dataset, {}, transforms, {});
  Bench bench(a, device);
  bench.report(bench_ops(bench.ctx, prepared, bench.rates, columns, heads));
  return 0;
}

LoadedJob one_rank_job(const Arguments& a) {
  Arguments one_rank = a;
  one_rank.add("--ranks", "1");
  LoadedJob loaded = load_job_of(one_rank, say);
  check_concrete(loaded.job);
  return loaded;
}

/// A manifest's job, on one rank.
struct OneRankJob {
  explicit OneRankJob(const Arguments& a)
      : loaded(one_rank_job(a)),
        dataset(dataset_of(a, loaded, say)),
        prepared(prepare_graph(loaded, dataset, say)),
        epochs(int(a.integer("--epochs", 5, 1, 1000))) {}
  LoadedJob loaded;
  Dataset dataset;
  PreparedGraph prepared;
  int epochs;
};

int run_epoch(const Arguments& a) {
  const DeviceChoice device = device_choice(a.get("--device", "cpu"));
  const GpuOptions options = gpu_options(a.get("--cuda-graphs", "on"), a.get("--sums", "atoll"));
  const OneRankJob one(a);
  Bench bench(a, device, options);
  bench.report({bench_epoch(bench.ctx, one.loaded.job, one.dataset, one.prepared, bench.rates, one.epochs)});
  return 0;
}

int run_batches(const Arguments& a) {
  const OneRankJob one(a);
  Bench bench(a);
  bench.report({bench_batches(one.loaded.job, one.dataset, one.prepared, bench.pool.threads(), one.epochs)});
  return 0;
}

const Argument kThreads{"--threads", "N", "number of threads (all cores)"};
const Argument kJson{"--json", "", "print one JSON object per line"};
const Argument kDevice{"--device", "NAME", "auto, cpu or cuda (cpu)"};

std::vector<Argument> of_a_job(const char* epochs) {
  return {{"-f,--file", "FILE", "the manifest (gnnjob.yaml)", true},
          {"--epochs", "N", epochs},
          {"--data-root", "DIR", "folder that holds the data sets (ATOLL_DATA_ROOT, or ./datasets)"},
          prepared_argument(),
          {"--set", "FIELD=VALUE", "override a field of the manifest; may be repeated", false, true},
          kThreads,
          kJson};
}

}  // namespace

Command bench_machine_command() {
  return {"bench machine",
          "measure this machine: triad, row gather, peak of products",
          {kThreads, kJson},
          run_machine};
}

Command bench_ops_command() {
  return {"bench ops",
          "time kernels on a data set and compare them with their bounds",
          {{"DATASET", "", "folder of the data set, or its name under the data root", true},
           {"--columns", "N,...", "row widths to time (64,256)"},
           {"--heads", "N", "attention heads (8)"},
           kDevice,
           kThreads,
           kJson},
          run_ops};
}

Command bench_epoch_command() {
  std::vector<Argument> arguments = of_a_job("number of epochs, of which the median is reported (5)");
  arguments.push_back(kDevice);
  arguments.push_back({"--cuda-graphs", "on|off", "replay steps on a GPU as CUDA graphs (on)"});
  arguments.push_back(
      {"--sums", "NAME", "whose kernels sum over neighbours on a GPU: atoll or cusparse (atoll)"});
  return {"bench epoch", "time an epoch of a manifest on one rank and compare it with the machine's limits",
          arguments, run_epoch};
}

Command bench_batches_command() {
  return {"bench batches", "time the drawing of a manifest's mini-batches, in sampled arcs per second",
          of_a_job("number of epochs, of which the mean is reported (5)"), run_batches};
}

}  // namespace atl
