// GAT (Veličković et al. 2018, section 2.1): z = drop(h)·W per head,
// e(i,j) = LeakyReLU(a_dst·z(i) + a_src·z(j)), softmax over j.
//
// Scores are per vertex and linear before the LeakyReLU. A strategy that splits columns can therefore make
// them whole by `Columns::sum` (P3 × GAT). The destination's score is computed as drop(h)·(W·a_dst), which
// needs no z of the destination: its row may be in any block of sources, or in none.
#include "model/finished_layer.h"
#include "model/kinds.h"
#include "model/softmax_over.h"
#include "model/transform.h"

namespace atl {
namespace {

struct GatOptions {
  LayerOptions layer;  // out = columns after the heads are joined
  int heads = 1;
  bool concat = true;  // join heads side by side; otherwise their mean (the last layer)
  Real slope = Real(0.2);
  double attention_dropout = 0;
};

enum { kWeight, kSrcVector, kDstVector };                    // parameters
enum { kZ, kSrcScore, kDstScore, kMax, kSum, kAggregated };  // saved

/// Columns before the heads are joined.
Index width_of(const GatOptions& o) {
  return o.concat ? o.layer.out : o.layer.out * o.heads;
}

/// Whether z travels between ranks instead of h. At equal widths z costs no more bytes, and no rank
/// multiplies other ranks' rows.
bool sends_products(const GatOptions& o) {
  return o.layer.sends_products && width_of(o) <= o.layer.in;
}

LayerSpec product_of(const GatOptions& o) {
  using Over = SavedSpec::Over;
  const Index width = width_of(o), per_head = width / o.heads;
  const DecayGroup decay = o.layer.decay;
  return {.name = fmt::format("gat {} → {} ({} heads)", o.layer.in, o.layer.out, o.heads),
          .parameters = {{"weight", o.layer.of_whole(), width, Init::kGlorot, decay, 0, 0, true, 1, 1},
                         {"attention_src", 1, width, Init::kGlorot, decay, o.heads, per_head},
                         {"attention_dst", 1, width, Init::kGlorot, decay, o.heads, per_head}},
          .saved = {{"z", sends_products(o) ? Over::kDestinations : Over::kSources, width},
                    {"src_score", Over::kSources, o.heads, -1, true},
                    {"dst_score", Over::kDestinations, o.heads, -1, true},
                    {"max", Over::kDestinations, o.heads, -1, true},
                    {"sum", Over::kDestinations, o.heads, -1, true},
                    {"aggregated", Over::kDestinations, width}},
          .cost = {2.0 * double(o.layer.in) * double(width), width, {o.heads, true}},
          .gathers = true,
          .product_cols = sends_products(o) ? width : 0,
          .rows_in_backward = true};
}

class Gat final : public FinishedLayer {
 public:
  explicit Gat(const GatOptions& o) : FinishedLayer(o.layer, product_of(o)), o_(o) {}

 private:
  void multiply(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved, MatrixView target,
                const Epilogue& finish) const override {
    Context& ctx = verbs.context();
    MatrixView dst_score = saved.at(kDstScore), aggregated = saved.at(kAggregated);
    const Softmaxes softmaxes{{saved.at(kMax), saved.at(kSum)}, aggregated};
    const auto begin = [&]() -> ConstMatrixView {
      softmax_begin(ctx, softmaxes);
      transform(ctx, input.self, input_dropout().of_self(verbs), folded_vector(ctx, w), dst_score);
      make_whole(verbs, dst_score);
      return dst_score;
    };
    const auto add = [&](const Source& s, ConstMatrixView z, ConstMatrixView scores, const Softmaxes& into) {
      MatrixView src_score = saved.at(kSrcScore, s.slot, z.rows);
      head_dot(ctx, o_.heads, z, w.value(kSrcVector).data, src_score);
      make_whole(verbs, src_score);
      attention_add(ctx, attention_of(verbs, s), z, scores, src_score, into);
    };
    if (sends_products(o_)) {
      const ExchangedProducts products(verbs, input.rows, input_dropout().of_self(verbs), w.value(kWeight));
      const MatrixView own = saved.at(kZ);
      products.multiply_boundary(own);
      const auto rest = [&] {
        products.multiply_rest(own);
        return begin();
      };
      softmax_over(verbs, own, softmaxes, rest,
                   [&](const Source& s, ConstMatrixView scores, const Softmaxes& into) {
                     add(s, s.rows.dense, scores, into);
                   });
    } else {
      softmax_over(verbs, input.rows, softmaxes, begin,
                   [&](const Source& s, ConstMatrixView scores, const Softmaxes& into) {
                     const MatrixView z = saved.at(kZ, s.slot, s.rows.rows());
                     transform(ctx, s.rows, input_dropout().of(verbs, s), w.value(kWeight), z);
                     add(s, z, scores, into);
                   });
    }
    attention_finish(ctx, softmaxes);
    if (o_.concat) return apply(ctx, finish, aggregated, target);  // the heads lie side by side already
    mean_of_heads(ctx, aggregated, target);
    apply(ctx, finish, target, target);
  }

  void multiply_backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input, Saved& saved,
                         MatrixView d_target, MatrixView, const LayerGradient& gradient) const override {
    static constexpr ScratchKey kDot, kOfDst, kOfSrc, kOfZ;
    Context& ctx = verbs.context();
    MatrixView d_aggregated = split_heads(ctx, d_target);
    MatrixView dot = ctx.workspace->matrix(kDot, d_target.rows, o_.heads);
    MatrixView d_dst_score = ctx.workspace->matrix(kOfDst, d_target.rows, o_.heads);
    attention_dot(ctx, o_.heads, saved.at(kAggregated), d_aggregated, dot);
    fill(ctx, 0, d_dst_score);
    const SoftmaxState state{saved.at(kMax), saved.at(kSum)};
    const SoftmaxGradient of_own{saved.at(kDstScore), state, dot, d_aggregated, d_dst_score};
    const auto block_backward = [&](const Source& s, ConstMatrixView z, const SoftmaxGradient& of,
                                    MatrixView d_z) {
      MatrixView src_score = saved.at(kSrcScore, s.slot, z.rows);
      MatrixView d_src_score = ctx.workspace->matrix(kOfSrc, z.rows, o_.heads);
      attention_backward(ctx, attention_of(verbs, s), s.block->transpose, s.block->transpose_arc, z,
                         of.scores, src_score, of.state, of.result, of.d_out, d_z, d_src_score, of.d_scores);
      make_whole(verbs, d_src_score);
      head_dot_backward(ctx, o_.heads, z, w.value(kSrcVector).data, d_src_score, d_z,
                        w.gradient(kSrcVector).data);
    };
    if (sends_products(o_)) {
      const ExchangedProducts products(verbs, input.rows, input_dropout().of_self(verbs), w.value(kWeight));
      const MatrixView d_own = ctx.workspace->matrix(kOfZ, input.rows.rows(), width(), ctx.values);
      softmax_back(verbs, saved.at(kZ), of_own, d_own, [&](const Source& s, const SoftmaxGradient& of) {
        block_backward(s, s.rows.dense, of, s.d_rows);
        if (s.own) products.backward_rest(d_own, w.gradient(kWeight), gradient.rows);
      });
      products.backward_boundary(d_own, w.gradient(kWeight), gradient.rows);
    } else {
      softmax_back(verbs, input.rows, of_own, gradient.rows, [&](const Source& s, const SoftmaxGradient& of) {
        const MatrixView z = saved.at(kZ, s.slot, s.rows.rows());
        const MatrixView d_z = ctx.workspace->matrix(kOfZ, z.rows, z.cols, ctx.values);
        block_backward(s, z, of, d_z);
        weight_backward(ctx, s.rows, input_dropout().of(verbs, s), d_z, w.gradient(kWeight));
        if (s.d_rows.cols > 0)
          rows_backward(ctx, input_dropout().of_gradient(verbs, s), w.value(kWeight), d_z, s.d_rows);
      });
    }
    make_whole(verbs, d_dst_score);
    destination_backward(verbs, w, input, d_dst_score, gradient);
  }

  Index width() const { return width_of(o_); }

  /// Where ranks share columns, each rank has a summand of the scores, or of their gradients, because both
  /// are linear in z. This sums them over the ranks.
  static void make_whole(Verbs& verbs, MatrixView scores) {
    if (Columns* columns = verbs.state().columns) columns->sum(scores);
  }

  /// (in, heads): W·a_dst, a column per head.
  MatrixView folded_vector(Context& ctx, const LayerWeights& w) const {
    static constexpr ScratchKey kFolded;
    MatrixView folded = ctx.workspace->matrix(kFolded, o_.layer.in, o_.heads);
    for (int h = 0; h < o_.heads; ++h) {
      gemm_bt(ctx, head(w.value(kWeight), h), head(w.value(kDstVector), h), folded.slice_cols(h, 1));
    }
    return folded;
  }

  /// The way back through dst_score = drop(self) · folded, with folded(h) = W(h)·a_dst(h).
  void destination_backward(Verbs& verbs, const LayerWeights& w, const LayerInput& input,
                            MatrixView d_dst_score, const LayerGradient& gradient) const {
    Context& ctx = verbs.context();
    static constexpr ScratchKey kOfFolded;
    MatrixView d_folded = ctx.workspace->matrix(kOfFolded, o_.layer.in, o_.heads);
    fill(ctx, 0, d_folded);
    weight_backward(ctx, input.self, input_dropout().of_self(verbs), d_dst_score, d_folded);
    if (gradient.self.cols > 0)
      rows_backward(ctx, input_dropout().of_own_gradient(verbs), folded_vector(ctx, w), d_dst_score,
                    gradient.self, true);
    for (int h = 0; h < o_.heads; ++h) {
      ConstMatrixView d = d_folded.slice_cols(h, 1);
      gemm(ctx, d, head(w.value(kDstVector), h), head(w.gradient(kWeight), h), true);
      gemm_at(ctx, d, {}, head(w.value(kWeight), h), head(w.gradient(kDstVector), h), true);
    }
  }

  template <class T>
  View<T> head(View<T> m, int h) const {
    return m.slice_cols(h * (width() / o_.heads), width() / o_.heads);
  }

  void mean_of_heads(Context& ctx, ConstMatrixView aggregated, MatrixView out) const {
    for (int h = 0; h < o_.heads; ++h)
      axpby(ctx, Real(1) / Real(o_.heads), head(aggregated, h), h == 0 ? 0 : 1, out);
  }
  MatrixView split_heads(Context& ctx, MatrixView d_out) const {
    if (o_.concat) return d_out;
    static constexpr ScratchKey kHeads;
    MatrixView d = ctx.workspace->matrix(kHeads, d_out.rows, width(), ctx.values);
    for (int h = 0; h < o_.heads; ++h) axpby(ctx, Real(1) / Real(o_.heads), d_out, 0, head(d, h));
    return d;
  }

  Attention attention_of(Verbs& verbs, const Source& s) const {
    Attention a;
    a.arcs = arcs_of(*s.block);
    a.heads = o_.heads;
    a.slope = o_.slope;
    a.dropout_rate = verbs.state().training ? o_.attention_dropout : 0;
    a.draws = verbs.draws(Purpose::kAttentionDropout, o_.layer.index);
    a.dst_ids = s.block->dst_ids;
    a.src_ids = s.block->src_ids;
    return a;
  }

  GatOptions o_;
};

/// `hidden` is the width of each head, as in PyG and DGL; the last layer averages its heads.
Model make_gat(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  const auto heads = int(spec.options.integer("heads"));
  const Index hidden = Index(spec.hidden) * heads;
  std::vector<GatOptions> all;
  for (int l = 0; l < spec.layers; ++l) {
    const bool last = l + 1 == spec.layers;
    GatOptions o;
    o.heads = last ? int(spec.options.integer("outputHeads")) : heads;
    o.concat = !last;
    o.slope = Real(spec.options.number("negativeSlope"));
    o.attention_dropout = training.attention_dropout;
    o.layer.index = l;
    o.layer.in = l == 0 ? input.features : hidden;
    o.layer.whole_in = l == 0 ? input.whole_features : 0;
    o.layer.out = last ? input.classes : hidden;
    o.layer.packed_input = l == 0 && input.packed_features;
    o.layer.sends_products = input.sends_products && l > 0;
    o.layer.dropout = l == 0 ? training.input_dropout.rate : training.dropout;
    o.layer.dropout_purpose = l == 0 ? Purpose::kInputDropout : Purpose::kDropout;
    o.layer.skip = spec.skip_connections && l > 0 && o.layer.in == o.layer.out;
    o.layer.finish.norm = last ? Norm::kNone : spec.norm;
    o.layer.finish.activation = last ? Activation::kNone : Activation::kElu;
    all.push_back(o);
    if (l > 0)
      move_dropout_to_maker(all[std::size_t(l) - 1].layer, all[std::size_t(l)].layer, input.drops_out);
  }
  Model model;
  for (const GatOptions& o : all) model.layers.push_back(std::make_unique<Gat>(o));
  return model;
}

}  // namespace

ModelKind gat_kind() {
  return {"gat", make_gat, [](const Options&) -> GraphNeeds {
            return {Normalisation::kSum, SelfLoops::kAdd, true};
          }};
}

}  // namespace atl
