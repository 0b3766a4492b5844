// CUDA graphs of the emulated GPU: chains of what a stream would have been given while it was captured.
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

/// What it was made of may be destroyed before it, but for the nodes that it is asked to change.
struct GraphExec {
  struct Step {
    const Node* of;  // of the graph that it was first made of
    cudaLaunchConfig_t config;
    const void* function;
    Binder bind;
    std::function<void()> work;
  };
  int gpu;
  std::vector<Step> steps;
};

/// A stream that is captured.
struct Capture {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  Node* last = nullptr;
  bool valid = true;
};

}  // namespace emulated
