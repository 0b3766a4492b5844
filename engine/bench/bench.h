// Benchmarks of kernels and epochs against what the machine can do (`atoll bench`). Each first validates its
// result against a naive reference, then times it; a row is a figure beside its limit.
#pragma once

#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/prepared_graph.h"
#include "tensor/rates.h"

namespace atl {

struct BenchRow {
  std::string name;       // "spmm, 64 columns, prepared order"
  double seconds = 0;     // best of several runs
  double limit = 0;       // the most seconds that it should take; 0: no limit is stated
  std::string formula{};  // of the limit
  double arcs = 0;        // drawn in `seconds`; 0: nothing was drawn
  std::string by{};       // the maker of the timed kernel, where not all have the same
  struct Way {
    std::string by;
    double seconds;
  };
  std::vector<Way> ways{};  // ours and the library's, where the device has one
};

/// A benchmark's machine: a number of threads, or a GPU.
struct BenchMachine {
  int threads = 1;
  std::string gpu{};  // name by its maker; empty: the CPU
};

/// The machine's rates as one line of text. It has no time, so nobody takes it for a row.
std::string to_text(const MachineRates& rates, const BenchMachine& machine);
std::string to_json(const MachineRates& rates, const BenchMachine& machine);
/// "figure, limit, ratio", one line per row.
std::string to_text(const std::vector<BenchRow>& rows);
/// {"event":"bench","name":…,"seconds":…,"limitSeconds":…,"ratio":…,"formula":…,"arcsPerSecond":…,"by":…,"ways":{BY:SECONDS,…}},
/// the last six where the row has them.
std::string to_json(const BenchRow& row);

/// Times these kernels, for f columns:
///  - SpMM over the prepared graph. Limit: no reuse, 4E + 4Ef + 4nf bytes at the triad's rate. For contrast,
///    also SpMM in the data set's own vertex order.
///  - A layer's dense product and its weight gradient, f columns to f. Limit: 1.2 × (operations at the
///    processor's peak, or cuBLAS' rate on a GPU, + bytes at the triad's).
///  - The fused attention's forward with `heads` heads. Limit: E·(4 + 4f + 4·heads) bytes at 60 % of the
///    gather's rate.
///
/// All run on ctx's device, and `rates` are that device's. If its library has an SpMM, the row has the
/// library's time beside ours. Throws Error where a result is wrong.
std::vector<BenchRow> bench_ops(Context& ctx, const PreparedGraph& prepared, const MachineRates& rates,
                                const std::vector<Index>& columns, int heads);

/// Times a whole epoch of a job on one rank in this process. Limit: 1.3 × seconds_of(epoch_work()). It runs
/// on ctx's device, and `rates` are that device's. Throws Error where the loss isn't finite or doesn't fall,
/// and where a GPU's first two losses aren't near those of the CPU, which trains two epochs for comparison.
BenchRow bench_epoch(Context& ctx, const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     const MachineRates& rates, int epochs);

/// Draws an epoch's mini-batches as the job's one rank would with `threads` threads; fetches and trains
/// nothing. Seconds are the mean over `epochs`, after one epoch in which the number of each row's arcs is
/// checked. Throws Error where that is wrong.
BenchRow bench_batches(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, int threads,
                       int epochs);

}  // namespace atl
