// Scores of pairs of vertices from the rows of their ends, and their gradients: what link prediction puts
// behind a model's last layer.
//
// dot: Σ of the rows' product. mlp: linear layers over that product, column by column, with ReLU between them
// (the link predictors of OGB's examples; Hu et al. 2020). Neither can tell an edge from its reverse. Pairs
// are the host's work: on a device, rows and weights come from it and gradients go back.
#pragma once

#include <span>
#include <vector>

#include "job/job.h"
#include "model/parameters.h"
#include "tensor/copies.h"

namespace atl {

/// A decoder's parameters for embeddings of `width` columns; none for dot.
std::vector<ParameterSpec> decoder_parameters(const LinkSpec& spec, Index width);

/// The embeddings of pairs' ends: first the rank's own rows, then those that it was sent; an end is a number
/// of one of these rows. In the host's memory.
struct EndRows {
  ConstMatrixView own, sent;  // (any, width)
  const Real* row(VertexId number) const {
    return number < own.rows ? own.row(number) : sent.row(Index(number) - own.rows);
  }
};
struct EndGradients {
  MatrixView own, sent;  // as EndRows
  Real* row(VertexId number) const {
    return number < own.rows ? own.row(number) : sent.row(Index(number) - own.rows);
  }
};

/// Some pairs, by the numbers of their ends; the first `edges` of them are edges.
struct EndPairs {
  std::span<const VertexId> sources, destinations;
  Index edges = 0;
  Index size() const { return Index(sources.size()); }
};

/// Pairs of a pass, numbered a piece at a time, so that nobody holds the numbers of all.
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

/// Allocates nothing once pieces of pairs have been as large as they get.
class Decoder {
 public:
  /// `layer`: its number among the layers of the parameters.
  Decoder(const LinkSpec& spec, Index width, int layer);

  /// scores (pairs). `host`: a context of the host's.
  void score(Context& host, const WeightVersion& weights, const EndRows& rows, PairPieces& pairs,
             std::span<Real> scores);
  /// Returns Σ of the binary cross-entropy of the pairs' scores. gradients += its derivative times `scale`,
  /// and the weights' gradients likewise.
  double train(Context& host, const WeightVersion& weights, const EndRows& rows, PairPieces& pairs,
               Real scale, const EndGradients& gradients);
  /// Σ of the binary cross-entropy of scores, the first `edges` of them edges'. d_scores, where not empty,
  /// are its derivatives times `scale`.
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
  std::vector<HostLayer> host_;  // of the pass, by layer
  // Of a piece of pairs:
  Matrix product_;              // (pairs, width)
  std::vector<Matrix> hidden_;  // (pairs, width) output of each layer but the last
  Matrix scores_, d_scores_;    // (pairs, 1)
  Matrix gradient_, turn_;      // (pairs, width) of what the layer at hand reads and leaves
};

/// log(1 + e^x), for any x.
double softplus(double x);

}  // namespace atl
