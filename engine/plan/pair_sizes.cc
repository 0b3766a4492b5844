#include "plan/pair_sizes.h"

#include <algorithm>
#include <cmath>

#include "base/threads.h"
#include "model/decoder.h"
#include "plan/memory.h"
#include "tensor/kernels.h"
#include "train/links/link_task.h"

namespace atl {

PairTally::PairTally(const Owners& owners) : owners_(owners), sizes_(std::size_t(owners.ranks())) {
  wanted_.rows.assign(sizes_.size(), std::vector<Index>(sizes_.size(), 0));
}

void PairTally::add_graph(const PairGraph& graph, int negatives) {
  PairSizes& of = sizes_[std::size_t(graph.rank())];
  of.rows = owners_.rows(graph.rank()), of.vertices = graph.vertices();
  of.edges = Index(graph.edges().size());
  of.graph = graph.bytes();
  of.drawn = double(graph.all_edges()) * negatives * double(of.rows) / double(of.vertices);
  of.epoch = double(of.edges) + of.drawn;
}

std::vector<VertexId> PairTally::enter(Rank rank, const StepPairs& pairs, PairSizes::Step PairSizes::*most) {
  PairSizes::Step& step = sizes_[std::size_t(rank)].*most;
  Index remote = 0, wanted = 0;
  for (const auto& side : {pairs.sources.span(), pairs.destinations.span()})
    for (const VertexId row : side) remote += owners_.owns(rank, row) ? 0 : 1;
  std::vector<VertexId> ends;
  collect_ends(
      pairs, [](VertexId) { return true; }, ends);
  std::vector<Index>& of_owners = wanted_.rows[std::size_t(rank)];
  std::ranges::fill(of_owners, 0);
  for (const VertexId row : ends)
    if (const Rank owner = owners_.owner_of(row); owner != rank) ++of_owners[std::size_t(owner)], ++wanted;
  step.pairs = std::max(step.pairs, pairs.size());
  step.ends = std::max(step.ends, Index(ends.size()));
  step.remote = std::max(step.remote, remote);
  step.wanted = std::max(step.wanted, wanted);
  return ends;
}

void PairTally::enter_asked(PairSizes::Step PairSizes::*most) {
  for (std::size_t owner = 0; owner < sizes_.size(); ++owner) {
    Index asked = 0;
    for (const std::vector<Index>& of_owners : wanted_.rows) asked += of_owners[owner];
    PairSizes::Step& step = sizes_[owner].*most;
    step.asked = std::max(step.asked, asked);
  }
}

std::vector<VertexId> PairTally::add_step(Rank rank, const StepPairs& pairs) {
  return enter(rank, pairs, &PairSizes::training);
}

void PairTally::end_step() {
  enter_asked(&PairSizes::training);
}

void PairTally::add_measured(const Dataset& dataset, std::span<const VertexId> row_of) {
  for (PairSizes& of : sizes_)
    for (int set = 0; set < kPairSets; ++set)
      of.files += dataset.pairs(PairSet(set)).rows * 2 * Index(sizeof(VertexId));
  using Sets = std::pair<PairSet, PairSet>;
  for (const auto& [edges, negatives] : {Sets(PairSet::kValidation, PairSet::kValidationNegative),
                                         Sets(PairSet::kTest, PairSet::kTestNegative)}) {
    std::vector<StepPairs> by_rank(sizes_.size());
    for (const PairSet set : {edges, negatives}) {
      const View<const VertexId> pairs = dataset.pairs(set);
      for (Index i = 0; i < pairs.rows; ++i) {
        const VertexId source = row_of[std::size_t(pairs.at(i, 0))];
        by_rank[std::size_t(owners_.owner_of(source))].add(source, row_of[std::size_t(pairs.at(i, 1))]);
      }
    }
    for (std::size_t rank = 0; rank < sizes_.size(); ++rank) {
      PairSizes& of = sizes_[rank];
      of.measured += by_rank[rank].size();
      of.scored = std::max(of.scored, by_rank[rank].size());
      of.all_edges = std::max(of.all_edges, dataset.pairs(edges).rows);
      of.all_negatives = std::max(of.all_negatives, dataset.pairs(negatives).rows);
      of.scored_sets += dataset.pairs(edges).rows > 0 ? 1 : 0;
    }
    score(by_rank);
  }
}

/// Counts slab by slab, as LinkTask::score() goes through the pairs.
void PairTally::score(const std::vector<StepPairs>& by_rank) {
  Index most = 0;
  for (const StepPairs& each : by_rank) most = std::max(most, each.size());
  StepPairs slab;
  for (Index begin = 0; begin < most; begin += kScoredPairs) {
    for (Rank rank = 0; rank < owners_.ranks(); ++rank) {
      const StepPairs& all = by_rank[std::size_t(rank)];
      slab.clear();
      for (Index i = begin; i < std::min(begin + kScoredPairs, all.size()); ++i)
        slab.add(all.sources[i], all.destinations[i]);
      enter(rank, slab, &PairSizes::scoring);
    }
    enter_asked(&PairSizes::scoring);
    for (PairSizes& of : sizes_) ++of.scored_slabs;
    for (std::size_t rank = 0; rank < sizes_.size(); ++rank)
      for (std::size_t other = 0; other < sizes_.size(); ++other) {
        sizes_[rank].scoring_rows_requested += double(wanted_.rows[rank][other]);
        sizes_[rank].scoring_rows_sent += double(wanted_.rows[other][rank]);
      }
  }
}

namespace {

constexpr Index kId = sizeof(VertexId);
// kDrawLines: cache lines that drawing a negative pair reads at random, to look up its partners and the
// vertices' rows. kLine: bytes of a line.
constexpr double kDrawLines = 8, kLine = 64;
// Bytes of a comparison while scores are sorted, at the rate of gathers.
constexpr double kCompared = 32;

/// Scratch memory of the decoder's products.
Index decoder_scratch(const LinkSpec& spec, Index width, Index pairs, int threads) {
  if (spec.decoder != DecoderKind::kMlp) return 0;
  const auto pool = ThreadPool::dry(threads);
  Workspace workspace(Device::kDry);
  Context ctx{Device::kDry, pool.get(), &workspace};
  const Index rows = std::min(pairs, kDecodedPairs);
  const Matrix in(rows, width, Device::kDry), weight(width, width, Device::kDry);
  Matrix out(rows, width, Device::kDry), gradient(width, width, Device::kDry), bias(1, width, Device::kDry);
  gemm(ctx, in.view(), weight.view(), out.view(), false, {});
  gemm_at(ctx, in.view(), {}, out.view(), gradient.view(), true);
  sum_rows(ctx, out.view(), bias.data(), true);
  gemm_bt(ctx, in.view(), weight.view(), out.view());
  return workspace.bytes();
}

/// Bytes that collect_ends() holds at most when it meets `met` ends, of which `differ` are distinct.
Index collected(Index met, Index differ) {
  return kId * std::min(met, std::max(kUnsortedEnds, 2 * differ));
}

/// Bytes of pairs in batches made ahead of time, and of the threads that make these batches.
Index batch_pairs(const Job& job, const PairSizes& of, const PairPlace& place) {
  const Options& options = job.strategy.options;
  const Index ahead = options.integer("prefetch");
  const Index makers = place.ranks == 1 ? std::clamp<Index>(options.integer("threads"), 1, ahead) : 1;
  const PairSizes::Step& step = of.training;
  const Index requests = place.ranks == 1 ? 0 : kId * (3 * step.ends + step.asked);
  const Index maker = kId * of.edges + collected(2 * step.pairs, step.ends) + requests;
  return (ahead + 1) * 2 * kId * step.pairs + kId * of.edges + makers * maker;
}

/// Bytes of scores while a set is evaluated. Rank 0 gathers the scores of all ranks: those of edges and of
/// negative pairs. While it gathers one of the two, it holds them twice.
Index gathered_scores(const PairSizes& of, const PairPlace& place) {
  if (place.rank != 0) return kReal * of.scored;
  return kReal * std::max(2 * of.all_edges, of.all_edges + 2 * of.all_negatives);
}

/// Work of scoring each pair once; `passes`: 3 with gradients.
EpochWork decoder_work(const LinkSpec& spec, double width, double pairs, int passes) {
  EpochWork work;
  work.gathered_bytes = pairs * 2 * width * kReal;
  if (spec.decoder != DecoderKind::kMlp) return work;
  const double layers = spec.decoder_layers;
  work.product_flops = pairs * 2 * passes * width * (width * (layers - 1) + 1);
  work.streamed_bytes = pairs * kReal * width * (passes == 1 ? 2 : 8) * layers;
  return work;
}

}  // namespace

PairMemory pair_memory(const Job& job, const PairSizes& of, const PairPlace& place) {
  PairMemory m;
  if (job.task != Task::kLinkPrediction) return m;
  const Index width = job.model.hidden;
  const PairSizes::Step &step = of.training, &slab = of.scoring;
  const Index row_files = 2 * kId * of.vertices;
  m.loaded = of.graph + 2 * kId * of.measured + row_files;
  m.mapped = of.files;
  m.pairs = m.loaded + kId * of.rows;  // LinkTask::place_of_
  m.pairs += place.batches ? batch_pairs(job, of, place) : 2 * kId * step.pairs + kId * of.rows;
  m.pairs += 2 * kId * std::min(kScoredPairs, of.scored);
  if (place.ranks > 1) {
    const Index wanted = std::max(step.wanted, slab.wanted), asked = std::max(step.asked, slab.asked);
    m.ends = std::max(collected(step.remote, step.wanted), collected(slab.remote, slab.wanted)) +
             kId * (4 * wanted + 2 * asked) + kReal * width * (wanted + step.wanted + asked + step.asked);
  }
  const Index most = std::max(step.pairs, std::min(kScoredPairs, of.scored));
  m.scoring = decoder_bytes(job.links, width, most) + decoder_scratch(job.links, width, most, place.threads) +
              2 * kId * std::min(most, kDecodedPairs) + kReal * of.scored + gathered_scores(of, place);
  return m;
}

EpochWork pair_work(const Job& job, const PairSizes& of) {
  if (job.task != Task::kLinkPrediction) return {};
  const auto width = double(job.model.hidden);
  EpochWork work = decoder_work(job.links, width, of.epoch, 3);
  // Backward reads both rows again, and reads and writes the gradients of both.
  work.gathered_bytes += of.epoch * 6 * width * kReal + of.drawn * kDrawLines * kLine;
  return work;
}

EpochWork scoring_work(const Job& job, const PairSizes& of, bool root) {
  if (job.task != Task::kLinkPrediction) return {};
  EpochWork work = decoder_work(job.links, double(job.model.hidden), double(of.measured), 1);
  const double scores = 2 * double(of.all_edges + of.all_negatives);
  if (root && scores > 0) work.gathered_bytes += scores * std::log2(scores) * kCompared;
  return work;
}

}  // namespace atl
