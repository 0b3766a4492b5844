// CUDA graphs of the emulated GPU: chains of the work that a stream was given while it was captured.
#pragma once

#include <memory>
#include <vector>

#include "emulated.h"

namespace emulated {

struct Node {
  cudaLaunchConfig_t config;
  const void* function;  // null: no kernel
  Binder bind;
  std::function<void()> work;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};

/// Its graph may be destroyed before it, except for nodes that it is asked to change.
struct GraphExec {
  struct Step {
    const Node* of;  // the node of its first graph
    cudaLaunchConfig_t config;
    const void* function;
    Binder bind;
    std::function<void()> work;
  };
  int gpu;
  std::vector<Step> steps;
};

/// The capture of a stream.
struct Capture {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  Node* last = nullptr;
  bool valid = true;
};

}  // namespace emulated
