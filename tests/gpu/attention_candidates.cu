// Attention, there and back: columns of a lane, rows on their way together, parts of a row side by side or one after the other.
#include "before/before.h"
#include "candidates.h"
#include "tensor/cuda/arc_scores.h"
#include "tensor/cuda/elements.h"
#include "tensor/cuda/gradients.h"
#include "tensor/cuda/table.h"
#include "tensor/cuda/weighted_sums.h"

namespace atl {
namespace {

using namespace cuda;

simd::Attend attend_of(const AttentionOperands& of) {
  simd::Attend s = cuda::plain(of.a, of.z, of.dst_score, of.src_score, of.softmaxes.state);
  s.offsets = of.a.arcs.csr.offsets, s.columns = of.a.arcs.csr.columns;
  s.out = plain_out(of.softmaxes.out);
  s.dot = atl::plain(of.dot), s.d_out = atl::plain(of.d_out);
  s.d_z = plain_out(of.d_z);
  s.d_src_score = plain_out(of.d_src_score), s.d_dst_score = plain_out(of.d_dst_score);
  s.arc_of = of.transpose_arc;
  return s;
}

std::string name_of(int packs, int rows, int room, bool together) {
  return fmt::format("{} packs, {} rows, room {}, parts {}", packs, rows, room,
                     together ? "together" : "in turn");
}

struct Forward {
  AttentionOperands of;
  simd::Attend s;
  Candidates all;

  static KeptArcs scores(Context& ctx, const simd::Attend& s, const CsrView& arcs, MatrixView shrink) {
    const KeptArcs keep = kept_arcs(ctx, "attention.arcs", arcs, s.heads);
    for_arcs(ctx, ArcScores{s, plain_out(shrink), keep}, ArcShape{arcs.rows, s.heads, true, 3, arcs.cols});
    return keep;
  }

  template <int C, int kMost, int kRoom>
  void add(bool together) {
    const CsrView arcs = of.a.arcs.csr;
    const HeadLanes layout = head_lanes(s.heads, s.width / 4, C);
    ArcShape shape = shape_of(layout, arcs, s.heads);
    if (layout.slices > 1 || (!together && shape.parts == 1)) return;
    shape.parts_together = together;
    all.push_back(
        {name_of(C, kMost, kRoom, together), [=, of = of, s = s](Context& ctx) {
           const MatrixView shrink = ctx.workspace->matrix("attention.shrink", arcs.rows, s.heads);
           cuda::softmax_begin(ctx, of.softmaxes);
           const KeptArcs keep = scores(ctx, s, arcs, shrink);
           for_arcs(ctx, WeightedSums<4, C, kMost, kRoom>{s, layout, atl::plain(shrink), keep}, shape);
           cuda::attention_finish(ctx, of.softmaxes);
         }});
  }
};

struct Backward {
  AttentionOperands of;
  simd::Attend s;
  Candidates all;

  template <int C, int kMost, int kRoom>
  void add(bool together) {
    const HeadLanes layout = head_lanes(s.heads, s.width / 4, C);
    ArcShape shape = shape_of(layout, of.transpose, s.heads);
    if (layout.slices > 1 || (!together && shape.parts == 1)) return;
    shape.parts_together = together;
    all.push_back({name_of(C, kMost, kRoom, together), [=, of = of, s = s](Context& ctx) {
                     simd::Attend forth = s, back = s;
                     pack_destinations(ctx, forth, of.a.arcs.csr.rows);
                     back.packed = forth.packed;
                     back.offsets = of.transpose.offsets, back.columns = of.transpose.columns;
                     const KeptArcs keep = kept_arcs(ctx, "attention.arcs", of.a.arcs.csr, s.heads);
                     for_arcs(ctx, Gradients<4, C, kMost, true, false, kRoom>{back, layout, keep}, shape);
                     for_arcs(ctx, Gradients<4, C, kMost, false, false, kRoom>{forth, layout, keep}, shape);
                   }});
  }

  /// What the sum of kept numbers by destination takes; and what it took to compute them again.
  void add_by_destination(bool keeps) {
    const HeadLanes layout = head_lanes(s.heads, s.width / 4, 2);
    const ArcShape shape = shape_of(layout, of.a.arcs.csr, s.heads);
    if (layout.slices > 1) return;
    all.push_back({keeps ? "by destination" : "by destination, nothing kept",
                   [=, of = of, s = s](Context& ctx) {
                     simd::Attend forth = s;
                     pack_destinations(ctx, forth, of.a.arcs.csr.rows);
                     KeptArcs keep = kept_arcs(ctx, "attention.arcs", of.a.arcs.csr, s.heads);
                     if (!keeps) keep.arcs = 0;
                     for_arcs(ctx, Gradients<4, 2, 4, false, false, 8>{forth, layout, keep}, shape);
                   },
                   false});
  }
};

}  // namespace

Candidates attention_candidates(const AttentionOperands& of) {
  Forward f{of, attend_of(of), {}};
  const auto through = [of](auto* add) {
    return [of, add](Context& ctx) {
      cuda::softmax_begin(ctx, of.softmaxes);
      add(ctx, of.a, of.z, of.dst_score, of.src_score, of.softmaxes);
      cuda::attention_finish(ctx, of.softmaxes);
    };
  };
  f.all.push_back({"before", through(&before::attention_add)});
  f.all.push_back({"now", through(&cuda::attention_add)});
  f.all.push_back({"begin", [of](Context& ctx) { cuda::softmax_begin(ctx, of.softmaxes); }, false});
  f.all.push_back({"scores",
                   [of, s = f.s](Context& ctx) {
                     Forward::scores(ctx, s, of.a.arcs.csr,
                                     ctx.workspace->matrix("attention.shrink", of.a.arcs.csr.rows, s.heads));
                   },
                   false});
  f.all.push_back({"finish", [of](Context& ctx) { cuda::attention_finish(ctx, of.softmaxes); }, false});
  for (const bool together : {true, false}) {
    f.add<1, 4, 10>(together), f.add<1, 8, 8>(together), f.add<1, 8, 10>(together);
    f.add<2, 4, 8>(together), f.add<2, 4, 10>(together), f.add<2, 8, 6>(together);
  }
  return f.all;
}

Candidates attention_backward_candidates(const AttentionOperands& of) {
  Backward b{of, attend_of(of), {}};
  const auto through = [of](auto* backward) {
    return [of, backward](Context& ctx) {
      cuda::fill(ctx, 0, of.d_dst_score);
      backward(ctx, of.a, of.transpose, of.transpose_arc, of.z, of.dst_score, of.src_score,
               of.softmaxes.state, of.dot, of.d_out, of.d_z, of.d_src_score, of.d_dst_score);
    };
  };
  b.all.push_back({"before", through(&before::attention_backward)});
  b.all.push_back({"now", through(&cuda::attention_backward)});
  b.add_by_destination(true);
  b.add_by_destination(false);
  for (const bool together : {true, false}) {
    b.add<1, 2, 14>(together), b.add<1, 4, 10>(together), b.add<1, 8, 7>(together);
    b.add<2, 2, 10>(together), b.add<2, 4, 8>(together), b.add<2, 4, 10>(together), b.add<2, 8, 5>(together);
  }
  return b.all;
}

}  // namespace atl
