// Explains a rank's predictions online (DGS, Wan et al. 2022, section III-C; GNNExplainer, Ying et al. 2019).
// One mask is on the arcs to the star's centre, and one on the features. They are trained so that the model
// predicts the same for the centre with as little as possible. Both begin at one half everywhere, and Adam
// trains them from scratch each time, so that the result follows from the weights alone. Adam has one second
// moment for a whole mask, its mean. With one for each element, Adam would move all elements equally, however
// much each matters.
//
// The loss, with σ as open() of a mask's values: −log p(label) + 0.005 · mean σ(arcs) + mean H(σ(arcs)) +
// mean σ(features) + 0.1 · mean H(σ(features)), H(s) = −s log s − (1 − s) log (1 − s). GNNExplainer's code
// sums the arcs' size instead. With thousands of arcs Adam would follow that term alone, and masks would be
// alike.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "strategies/dgs/star_pass.h"

namespace atl {

struct ExplainerOptions {
  int epochs = 50;              // for how many masks are trained at most
  double threshold = 0.01;      // masks with a loss below this are good enough
  double learning_rate = 0.01;  // of the masks
  bool multi_label = false;     // each class is predicted by itself
};

/// The result of training the masks.
struct Explanation {
  std::vector<Real> vertices;  // (others) σ of the arcs' mask
  std::vector<Real> features;  // (F) σ of the features' mask
  int epochs = 0;              // for how many the masks were trained
  double first_loss = 0, loss = 0;
};

/// For one thread, on the host. Neither copyable nor movable.
class Explainer {
 public:
  /// features (rows of the star, F). `model` and `parameters` must outlive it. It uses the layout of
  /// `parameters`, and none of the values.
  Explainer(const Model& model, const Parameters& parameters, std::span<const VertexId> ids, Matrix features,
            const ExplainerOptions& options);

  Index others() const { return star_.others(); }
  Index features() const { return features_.cols(); }
  /// weights (1, elements): as Parameters::values(), in the host's memory; not changed. predicted (classes):
  /// the model's predictions for the rank's vertices; empty: the label is its prediction for the unmasked
  /// centre. `stop` ends it early. Throws Error where a mask's values stop being finite.
  void explain(MatrixView weights, std::span<const double> predicted, Explanation& out,
               const std::atomic<bool>& stop);
  /// The loss with the present masks, without the terms of their sizes. d_arcs and d_features are its
  /// gradients by the masks' values. For tests.
  double loss_of_prediction(MatrixView weights, std::span<const Real> arcs, std::span<const Real> features,
                            std::span<double> d_arcs, std::span<double> d_features);
  /// Sets the label for −log p to the predicted class or classes. Leaves the masks open.
  void choose_label(MatrixView weights, std::span<const double> predicted);
  Index bytes() const;

 private:
  /// A mask in training.
  struct Mask {
    std::vector<double> values, first, gradient;  // first: Adam's first moment
    double second = 0;                            // Adam's second moment
    std::vector<Real> open;
    explicit Mask(Index size);
    void restart();
    /// Returns the terms of size and entropy, and adds their gradient.
    double regularise(double size, double entropy);
    void step(int step, double rate);
  };
  ConstMatrixView logits(MatrixView weights, std::span<const Real> arcs, std::span<const Real> features);
  void check_finite(double value) const;
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
  Matrix d_weights_;                     // (1, trainable), which nobody reads
  Mask arcs_, columns_;
  std::vector<double> label_;  // (classes) 1 where predicted
};

}  // namespace atl
