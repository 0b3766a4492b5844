// Explains a rank's predictions online (DGS, Wan et al. 2022, section III-C; GNNExplainer, Ying et al. 2019):
// a mask on the arcs to the star's centre and one on the features, trained so that the model still predicts
// of the centre what it did, with as little as possible. Both begin at one half everywhere and are trained by
// Adam, each time anew: what they come to follows from the weights alone. A mask has one second moment, the
// mean over it: by element, Adam would move all by as much, whether they matter much or little.
//
// The loss, σ being open() of a mask's values: −log p(label) + 0.005 · mean σ(arcs) + mean H(σ(arcs)) + mean
// σ(features) + 0.1 · mean H(σ(features)), H(s) = −s log s − (1 − s) log (1 − s). GNNExplainer's code has the
// arcs' size as a sum: among thousands of arcs it is all that Adam would follow, and masks would be alike.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "strategies/dgs/star_pass.h"

namespace atl {

struct ExplainerOptions {
  int epochs = 50;              // the most that masks are trained
  double threshold = 0.01;      // of the loss, at which they are good enough
  double learning_rate = 0.01;  // of masks
  bool multi_label = false;     // each class by itself
};

/// What masks came to.
struct Explanation {
  std::vector<Real> vertices;  // (others) σ of the arcs' masks
  std::vector<Real> features;  // (F) σ of the features'
  int epochs = 0;              // trained
  double first_loss = 0, loss = 0;
};

/// One thread's, on the host. Neither copyable nor movable.
class Explainer {
 public:
  /// features (rows of the star, F). model and parameters outlive it; of the parameters the layout alone is
  /// looked at.
  Explainer(const Model& model, const Parameters& parameters, std::span<const VertexId> ids, Matrix features,
            const ExplainerOptions& options);

  Index others() const { return star_.others(); }
  Index features() const { return features_.cols(); }
  /// weights (1, elements): as Parameters::values(), in the host's memory; not changed. predicted (classes):
  /// what the model says of the rank's vertices; empty: the label is what it says of the unmasked centre.
  /// `stop`: ends early.
  void explain(MatrixView weights, std::span<const double> predicted, Explanation& out,
               const std::atomic<bool>& stop);
  /// Of the present masks, without the terms of their sizes; d_arcs, d_features: its gradient by the masks'
  /// values. For tests.
  double loss_of_prediction(MatrixView weights, std::span<const Real> arcs, std::span<const Real> features,
                            std::span<double> d_arcs, std::span<double> d_features);
  /// What the model predicts: the class, or those, that −log p is of. Masks are open afterwards.
  void choose_label(MatrixView weights, std::span<const double> predicted);
  Index bytes() const;

 private:
  /// A mask in training.
  struct Mask {
    std::vector<double> values, first, gradient;  // first: Adam's moment
    double second = 0;                            // likewise
    std::vector<Real> open;
    explicit Mask(Index size);
    void restart();
    /// Adds size and entropy, and their gradient.
    double regularise(double size, double entropy);
    void step(int step, double rate);
  };
  ConstMatrixView logits(MatrixView weights, std::span<const Real> arcs, std::span<const Real> features);
  double loss_of_logits(ConstMatrixView logits, MatrixView d_logits) const;
  WeightVersion version_of(MatrixView weights);

  const Model& model_;
  const Parameters& parameters_;
  const ExplainerOptions options_;
  ThreadPool pool_{1};
  Workspace workspace_;
  Context ctx_{Device::kCpu, &pool_, &workspace_};
  StarGraph star_;
  StarPass pass_;
  LayerRunner runner_;
  PassMemory memory_;
  Matrix features_, masked_, d_masked_;  // (rows of the star, F)
  Matrix d_weights_;                     // (1, trainable) that nobody reads
  Mask arcs_, columns_;
  std::vector<double> label_;  // (classes) 1 where predicted
};

}  // namespace atl
