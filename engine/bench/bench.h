// Benchmarks of kernels and epochs against what the machine can do (`atoll bench`). Each validates its result
// against a naive reference first, then times it; a row is a figure beside its limit.
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
  double seconds = 0;     // best of several
  double limit = 0;       // seconds that it should take at most; 0: none is stated
  std::string formula{};  // of the limit
  double arcs = 0;        // drawn in that time; 0: nothing was drawn
  std::string by{};       // whose kernel it was, where they aren't all of one maker
  struct Way {
    std::string by;
    double seconds;
  };
  std::vector<Way> ways{};  // ours and the library's, where the device has one
};

/// So many threads, or a GPU.
struct BenchMachine {
  int threads = 1;
  std::string gpu{};  // as its maker calls it; empty: the CPU
};

/// The machine's rates as rows of no limit are told apart: they have no time. One line each.
std::string to_text(const MachineRates& rates, const BenchMachine& machine);
std::string to_json(const MachineRates& rates, const BenchMachine& machine);
/// "figure, limit, ratio", a line each.
std::string to_text(const std::vector<BenchRow>& rows);
/// {"event":"bench","name":…,"seconds":…,"limitSeconds":…,"ratio":…,"formula":…,"arcsPerSecond":…,"by":…,"ways":{BY:SECONDS,…}},
/// the last six where there are any
std::string to_json(const BenchRow& row);

/// SpMM over the prepared graph against the no-reuse bound (4E + 4Ef + 4nf bytes at the triad's rate), and in
/// the data set's own vertex order for contrast; a layer's dense product and its weight gradient, f columns
/// to f, against 1.2 × (operations at the rate of OpenBLAS on large matrices + bytes at the triad's); the
/// fused attention with `heads` heads, forward, against E·(4 + 4f + 4·heads) bytes at 60 % of the gather's
/// rate. All run on ctx's device, whose rates `rates` are. Where that device's library has an SpMM, the row
/// has its time beside ours. Throws Error where a result is wrong.
std::vector<BenchRow> bench_ops(Context& ctx, const PreparedGraph& prepared, const MachineRates& rates,
                                const std::vector<Index>& columns, int heads);

/// A whole epoch of a job on one rank in this process, against 1.3 × seconds_of(epoch_work()). On ctx's
/// device, whose rates these are. Throws Error where the loss isn't finite or doesn't fall, and where a GPU's
/// first two losses aren't near those of the CPU, which trains two epochs for comparison.
BenchRow bench_epoch(Context& ctx, const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     const MachineRates& rates, int epochs);

/// Drawing an epoch's mini-batches, as the job's one rank would with so many threads: nothing is fetched or
/// trained. The mean of so many epochs, after one in which the number of each row's arcs is checked. Throws
/// Error where it's wrong.
BenchRow bench_batches(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, int threads,
                       int epochs);

}  // namespace atl
