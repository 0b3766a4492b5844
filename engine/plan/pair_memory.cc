#include "plan/pair_memory.h"

#include <algorithm>
#include <cmath>

#include "base/threads.h"
#include "model/decoder.h"
#include "tensor/kernels.h"
#include "train/links/link_task.h"

namespace atl {
namespace {

constexpr Index kReal = sizeof(Real), kId = sizeof(VertexId);
// Lines of memory that drawing a negative pair reads at random (its partners, and which row a vertex has), and their size.
constexpr double kDrawLines = 8, kLine = 64;
// Bytes of a comparison while scores are sorted, at the rate of gathers.
constexpr double kCompared = 32;

/// Kernels' scratch of the decoder's products.
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

/// What collect_ends() comes to hold of so many that are met, of which so many differ.
Index collected(Index met, Index differ) {
  return kId * std::min(met, std::max(kUnsortedEnds, 2 * differ));
}

/// Of batches that are made ahead of time, and of what makes them.
Index batch_pairs(const Job& job, const PairSizes& of, const PairPlace& place) {
  const Options& options = job.strategy.options;
  const Index ahead = options.integer("prefetch");
  const Index makers = place.ranks == 1 ? std::clamp<Index>(options.integer("threads"), 1, ahead) : 1;
  const PairSizes::Step& step = of.training;
  const Index requests = place.ranks == 1 ? 0 : kId * (3 * step.ends + step.asked);
  const Index maker = kId * of.edges + collected(2 * step.pairs, step.ends) + requests;
  return (ahead + 1) * 2 * kId * step.pairs + kId * of.edges + makers * maker;
}

/// On rank 0 a set's scores arrive: those of edges, and beside them those of negative pairs twice, or the other way round.
Index gathered_scores(const PairSizes& of, const PairPlace& place) {
  if (place.rank != 0) return kReal * of.scored;
  return kReal * std::max(2 * of.all_edges, of.all_edges + 2 * of.all_negatives);
}

/// Of scoring a pair once; `passes`: 3 with its gradients.
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
  // Both rows again, and the gradients of both read and written.
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
