// What a vertex of a generated graph is: its label or labels, its features, its split.
#pragma once

#include <span>
#include <vector>

#include "base/random.h"
#include "dataset/generate/generate.h"
#include "dataset/generate/line.h"

namespace atl {

/// Labels are drawn for places on the line; `id` is the vertex's final id and keys everything else.
class LabelModel {
 public:
  /// `same_group`: share of arcs between communities of one group, from which follows how many vertices must
  /// follow their community for the homophily asked for. Throws Error where no share does.
  LabelModel(const CommunitySpec& spec, const Line& line, double same_group);

  /// The group's, mostly; else one drawn by the groups' shares.
  int group(VertexId id, int community_group) const;
  void targets(VertexId id, int group, std::span<std::uint8_t> out) const;
  void features(VertexId id, int group, std::span<float> out) const;
  Split split(VertexId id) const;

 private:
  void draw_topics();
  void add_mean(int label, float scale, std::span<float> out) const;
  void add_noise(VertexId id, std::span<float> out) const;

  CommunitySpec spec_;
  double faithful_ = 1;              // share of vertices that take their community's group
  std::vector<double> until_;        // (groups) cumulated shares of the line
  std::vector<float> label_chance_;  // (topics, classes) multi-label only
};

}  // namespace atl
