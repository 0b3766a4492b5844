// The manifest that tests of this folder change one line of.
#pragma once

namespace atl {

inline constexpr const char* kValidManifest = R"(apiVersion: atoll.dev/v1alpha1
kind: GNNJob
metadata:
  name: test
spec:
  dataset:
    name: cora
  model:
    kind: gcn
    layers: 2
    hidden: 16
  training:
    epochs: 100
    optimizer: {kind: adam, learningRate: 0.01}
  strategy:
    kind: graph
  placement:
    ranks: 2
)";

}  // namespace atl
