// Scores of pairs of vertices from the rows of their ends, and their gradients. Link prediction puts this
// behind a model's last layer.
//
// dot: the sum of the rows' product. mlp: linear layers over that product, column by column, with ReLU
// between them (the link predictors of OGB's examples; Hu et al. 2020). Neither distinguishes an edge from
// its reverse. The host computes the pairs; rows and weights come from the device, where there is one, and
// gradients go back.
#pragma once

#include <span>
#include <vector>

#include "job/job.h"
#include "model/parameters.h"
#include "tensor/copies.h"

namespace atl {

/// A decoder's parameters for embeddings of `width` columns; none for dot.
std::vector<ParameterSpec> decoder_parameters(const LinkSpec& spec, Index width);

/// The embeddings of pairs' ends, in the host's memory: the rank's own rows, then those that others sent. An
/// end is the number of one of these rows.
struct EndRows {
  ConstMatrixView own, sent;  // (any, width)
  const Real* row(VertexId number) const {
    return number < own.rows ? own.row(number) : sent.row(Index(number) - own.rows);
  }
};
struct EndGradients {
  MatrixView own, sent;  // shaped like EndRows
  Real* row(VertexId number) const {
    return number < own.rows ? own.row(number) : sent.row(Index(number) - own.rows);
  }
};

/// Some pairs, by the row numbers of their ends; the first `edges` pairs are edges.
struct EndPairs {
  std::span<const VertexId> sources, destinations;
  Index edges = 0;
  Index size() const { return Index(sources.size()); }
};

/// The pairs of a pass. Rows are numbered a piece at a time, so that nobody holds the numbers of all pairs.
class PairPieces {
 public:
  virtual ~PairPieces() = default;
  virtual Index size() const = 0;
  /// The pairs begin … begin + count − 1; valid until the next call.
  virtual EndPairs piece(Index begin, Index count) = 0;
};

/// Bytes that a Decoder holds after a pass over `pairs` pairs, without kernels' scratch memory.
Index decoder_bytes(const LinkSpec& spec, Index width, Index pairs);

/// How many pairs are scored at a time.
inline constexpr Index kDecodedPairs = 4096;

/// Scores pairs, and computes gradients, a piece at a time. It allocates nothing more once it has seen the
/// largest piece.
class Decoder {
 public:
  /// `layer`: the decoder's number among the layers of the parameters.
  Decoder(const LinkSpec& spec, Index width, int layer);

  /// Writes scores (pairs). `host` is a context of the host's.
  void score(Context& host, const WeightVersion& weights, const EndRows& rows, PairPieces& pairs,
             std::span<Real> scores);
  /// Returns Σ of the binary cross-entropy of the pairs' scores. Adds its derivative times `scale` to
  /// `gradients` and to the weights' gradients.
  double train(Context& host, const WeightVersion& weights, const EndRows& rows, PairPieces& pairs,
               Real scale, const EndGradients& gradients);
  /// Returns Σ of the binary cross-entropy of scores: the first `edges` are scores of edges, the others are
  /// not. Writes the derivatives times `scale` to d_scores, unless that is empty.
  static double loss(std::span<const Real> scores, Index edges, Real scale, std::span<Real> d_scores);

 private:
  /// A linear layer's weights where the host can read them, and its gradients where it can add to them.
  struct HostLayer {
    Index in, out;
    HostArray weight, bias, d_weight, d_bias;
  };
  void read_weights(const WeightVersion& weights, bool trains);
  void forward(Context& host, const EndRows& rows, const EndPairs& pairs);
  void backward(Context& host);
  void add_to_rows(Context& host, const EndRows& rows, const EndPairs& pairs,
                   const EndGradients& gradients) const;

  bool is_mlp_;
  Index width_;
  int layers_, layer_;
  std::vector<HostLayer> host_;  // layers of the present pass
  // For the present piece of pairs:
  Matrix product_;              // (pairs, width)
  std::vector<Matrix> hidden_;  // (pairs, width) output of each layer but the last
  Matrix scores_, d_scores_;    // (pairs, 1)
  Matrix gradient_, turn_;      // (pairs, width) gradients of the present layer's output and input
};

/// log(1 + e^x), for any x.
double softplus(double x);

}  // namespace atl
