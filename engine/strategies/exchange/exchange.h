// Where rows that a rank doesn't own come from, in full-batch schedules: in time or late, all, sampled,
// broadcast or cached. An exchange is one file or folder; those that several strategies use have their makers
// below.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include "comm/communicator.h"
#include "model/verbs.h"
#include "partition/chunk_blocks.h"
#include "partition/local_graph.h"
#include "strategies/exchange/boundary_set.h"

namespace atl {

// How whoever tells of a run asks a strategy for figures that it alone has: late rows, chunks' times,
// explanations. The asker names their type; a strategy that has such figures makes them, and no interface
// knows which strategy has which.
//
//   void MyStrategy::report(FigureRequest& request) {
//     request.offer<MyFigures>([&] { return my_figures(); });
//   }
//   if (const auto mine = figures_of<MyFigures>(schedule)) ...

/// Lives for one question.
class FigureRequest {
 public:
  /// By whoever is asked, once for each type that it has. `make` is called where it is the one that was asked
  /// for.
  template <class Figures, class Make>
  void offer(Make&& make) {
    if (type_ == typeid(Figures)) *static_cast<std::optional<Figures>*>(answer_) = make();
  }

 private:
  template <class Figures, class Source>
  friend std::optional<Figures> figures_of(Source& source);
  FigureRequest(const std::type_info& type, void* answer) : type_(type), answer_(answer) {}

  const std::type_info& type_;
  void* answer_;  // std::optional<Figures>
};

/// Nothing where `source`, a Schedule or an Exchange, has no such figures. Collective where making them is.
template <class Figures, class Source>
std::optional<Figures> figures_of(Source& source) {
  std::optional<Figures> answer;
  FigureRequest request(typeid(Figures), &answer);
  source.report(request);
  return answer;
}

/// What a rank reads of one rank's rows.
struct OwnerRows {
  Rank owner = 0;
  // (src) which of the owner's, in its own numbering, ascending; the device's memory
  std::span<const VertexId> rows;
  Block block;    // destinations: owned rows, or those of several ranks (OwnerReads); sources: these
  Rows features;  // (src, F), as GraphPart::halo_features
};

/// A slice of a part's rows with its arcs: what a pipeline works on at a time.
struct ChunkRows {
  Index begin = 0, end = 0;  // of the owned rows
  Block own, outer;          // destinations: these; sources: these, and `reads`
  // rows of owned + halo outside of the slice, ascending; in the host's memory …
  std::span<const VertexId> reads;
  std::span<const ChunkRun> runs;  // … and of which chunks they are
  Index rows() const { return end - begin; }
};

/// The rows that layers compute which have so many layers behind them that read neighbours, where some rows
/// are copies (near_blocks.h).
struct NearRows {
  Index rows = 0, sources = 0;      // the first so many of the owned rows; and of those that they may read
  Index halo = 0;                   // rows that they read of others
  Block own, outer;                 // destinations: these rows; sources: owned and halo rows
  std::span<const PeerRows> peers;  // in the host's memory
};

/// One rank's part of a graph with its features, as every full-batch pass sees it. Owned by the session.
/// Arrays lie where kernels read them, in the device's memory, but for those of `graph`.
struct GraphPart {
  const LocalGraph* graph = nullptr;
  std::span<const VertexId> ids;      // (owned) original vertex ids
  Block own, outer;                   // destinations: owned rows; sources: owned and halo rows
  std::span<const Real> row_weights;  // (owned) what each counts in sums over vertices; empty: 1
  Rows features;                      // (owned, F)
  // (halo, F): fixed, so read once from the data set and never sent; empty where the first layer doesn't
  // gather
  Rows halo_features;
  // Where the strategy takes halo rows owner by owner (OwnerReads), instead of `outer` and halo_features:
  std::vector<OwnerRows> owners;         // those with rows that are read here, in the order of parts
  std::span<const Index> owned_by_rank;  // (ranks) how many rows each owns
  // Where the strategy works on one slice after the other (JobDivision::slices), beside `own` and `outer`:
  std::vector<ChunkRows> chunks;
  // Where some owned rows are copies of other servers', by the number of layers behind, instead of `own` and
  // `outer`:
  std::vector<NearRows> near;
  // (rows that the first layer computes, F), where these are fewer and rows of `features` can't be told apart
  Rows computed_features;

  /// Other ranks read the first so many owned rows, and no others.
  Index boundary() const { return near.empty() && owned_by_rank.empty() ? graph->boundary : graph->owned; }
  /// The number of owned rows that a layer computes if `hops_left` of the layers after it gather.
  Index rows(int hops_left) const {
    if (near.empty()) return graph->owned;
    return hops_left < int(near.size()) ? near[std::size_t(hops_left)].rows : near.back().sources;
  }
};

/// What an exchange must know of a layer before the first pass.
struct ExchangedLayer {
  Index cols = 0;  // of the rows that gathers bring: of its input, or their products
  bool gathers = false;
  bool fixed = false;  // its input are the features
  bool once = false;   // gathered before the first pass, and never again
  bool keep = false;   // halo rows are looked at again in backward
  int hops_left = 0;   // layers behind it that gather
  bool travels() const { return gathers && !fixed && !once; }  // its input's rows, in every pass
};

/// One gather of one pass: what is gathered.
struct GatherRequest {
  int layer;
  const Rows& rows;        // (owned, cols)
  Traffic purpose;         // kHalo, kEvaluation, kRecompute, or kSetup for what is gathered once
  ConstMatrixView sent{};  // PassState::sent
};

/// A matrix of a rank's own state, by the name under which a checkpoint keeps it.
struct NamedMatrix {
  std::string name;
  MatrixView values;
  Device device = Device::kCpu;  // in whose memory they lie
};

/// One per rank and graph part. Calls are collective: all ranks make the same ones in the same order.
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// Rows of the source blocks of a layer that gathers, by slot.
  virtual std::vector<Index> source_rows(int layer) const = 0;
  /// Of the buffers that rows arrive in and leave from.
  virtual Index bytes() const = 0;
  /// Before the first gather of a pass; `epoch` (from 1) is a training pass's, and keys its draws.
  virtual void begin(std::int64_t /*epoch*/, bool /*training*/) {}
  /// Verbs::gather and gather_back. One gather of an exchange is open at a time. Back: contributions are
  /// added in a fixed order, own rows first, then peers by rank.
  virtual Gather& gather(const GatherRequest& what) = 0;
  virtual Gather& gather_back(const GatherRequest& what, MatrixView d_rows) = 0;
  /// Between two epochs: what a resumed run must put back here to go on as if it had never stopped, in an
  /// order and with names and shapes that depend on job and part alone. Waits for what is under way. Views of
  /// the exchange's memory.
  virtual std::vector<NamedMatrix> state() { return {}; }
  /// Between two passes: figures that it alone has.
  virtual void report(FigureRequest&) {}
};

/// exact.cc, "vanilla partition-parallel training" of PipeGCN (section 2, figures 1a and 2a): this step's
/// boundary rows to every rank that reads them. With `overlap`, own rows are aggregated while halo rows
/// travel, and halo gradients travel while own ones are computed; without, each transfer is waited for (the
/// synchronous baseline of the papers). `haloRows` says which rows training's passes exchange; null: all, as
/// they are. With a sample it is BNS-GCN's.
std::unique_ptr<Exchange> make_exact_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                              std::vector<ExchangedLayer> layers, bool overlap,
                                              std::unique_ptr<BoundarySet> boundary_set = nullptr);

/// pipegcn.cc: halo rows and gradients of the epoch before (Wan et al. 2022, algorithm 1 and section 3.4).
struct PipeGcnOptions {
  int staleness = 1;  // epochs; 0: rows are waited for, as a check of the rest
  bool smooth_rows = false, smooth_gradients = false;  // PipeGCN-F, -G, -GF
  double decay = 0.95;                                 // γ of the moving averages
  bool bias_correction = true;                         // the authors' code has none
  std::int64_t measure_every = 0;  // EpochStaleness of epochs that this divides; 0: of none
};
/// `haloRows` as above; with a sample, nothing may be smoothed or measured: rows of other epochs are other
/// rows.
std::unique_ptr<Exchange> make_pipegcn_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                                const std::vector<ExchangedLayer>& layers,
                                                const PipeGcnOptions& options,
                                                std::unique_ptr<BoundarySet> boundary_set = nullptr);

}  // namespace atl
