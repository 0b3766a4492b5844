// Makes graphs that resemble real ones, for places where no real graph can be had: communities of power-law
// size, power-law degrees, homophily, features and labels to learn from. A community is an interval on a line
// of vertices. Arcs stay in it or leave it by a distance that decays by octaves, so that a partitioner finds
// cuts as good as a real graph's (catalogue/describe.h), at any size.
//
// Everything depends on the spec alone. Each draw is keyed by its purpose (base/random.h), and no decision
// depends on a floating-point intermediate result, so the same seed gives the same bytes on any number of
// threads.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/threads.h"
#include "dataset/dataset.h"
#include "dataset/writer.h"
#include "graph/csr.h"
#include "tensor/matrix.h"

namespace atl {

/// What to generate. Presets fill it (catalogue/describe.h); the defaults imitate no real graph.
struct CommunitySpec {
  std::string name = "community";
  Index vertices = 0;
  double average_degree = 0;  // arcs per vertex; every edge is two arcs
  Index features = 0;
  int classes = 0;
  double homophily = 0.7;  // share of arcs that join equal labels (equal topics if multi-label)
  std::uint64_t seed = 1;

  double tail_exponent = 2.5;  // degree density ~ degree^-exponent, from smallest to largest degree
  double largest_degree = 0;   // cut-off of the tail; 0: 40 × average_degree; never above vertices / 8
  Index community_size = 0;    // mean, in vertices; 0: 16 × average_degree, at least 64
  /// Shares of the arcs that leave their community, by octaves of distance: entry 0 for half the line's
  /// length or more, entry 1 for a quarter up to a half, and so on …
  std::vector<double> long_shares{0.01};
  double octave_growth = 2.0;  // … each later octave has this many times the share of the one before …
  /// Equal parts of the line. Arcs of octaves shorter than a part don't leave the part, so the graph is
  /// easily cut into this many pieces, and less easily into more.
  Index districts = 1;
  double far_share = 0;  // … until this share of arcs leaves; 0: (1 − homophily) / 2

  double class_skew = 0.5;  // size of the k-th largest class ~ k^-skew
  double signal = 2.0;      // distance of a class's mean features from the origin, in units of the noise
  bool multi_label = false;
  bool half_features = false;             // store features as float16
  double train = 0.5, validation = 0.25;  // shares of the vertices; the rest is the test split
};

/// Throws Error naming the field, the value and what is allowed, if the spec can't be generated.
void check(const CommunitySpec& spec);

/// The graph of a spec. Any part of it can be asked for, by final vertex id, in any order. Holds about 10
/// bytes per vertex. Immutable and thread-safe once built.
class CommunityGraph {
 public:
  /// Throws Error for a spec that check() refuses and for a homophily that the far arcs make unreachable.
  explicit CommunityGraph(const CommunitySpec& spec);
  CommunityGraph(CommunityGraph&&) noexcept;
  ~CommunityGraph();

  const CommunitySpec& spec() const;
  /// The community of a vertex. Vertices of a community were adjacent before ids were shuffled.
  int community(VertexId vertex) const;

  /// The whole graph: symmetric, without duplicates or self-loops, columns ascending. Peak memory:
  /// arc_bytes(). Has vertices × average_degree arcs (an even number), minus those for which no free pair
  /// could be found.
  Csr arcs(ThreadPool& threads) const;
  /// Calls take(from, to) with every edge once, in one direction, some millions at a time.
  void edges(ThreadPool& threads,
             FunctionRef<void(std::span<const VertexId> from, std::span<const VertexId> to)> take) const;
  /// Bytes that arcs() needs at its peak, the result included.
  static Index arc_bytes(Index vertices, Index arcs) { return 6 * arcs + 8 * (vertices + 1); }

  /// The label of a vertex; if multi-label its topic, from which its labels are drawn.
  int label(VertexId vertex) const;
  /// Fills `out` (classes) with 0 or 1 each; multi-label specs only.
  void targets(VertexId vertex, std::span<std::uint8_t> out) const;
  /// Fills `out` (features) with the mean of the vertex's class (multi-label: the sum of its labels' means,
  /// rescaled) plus noise of deviation 1.
  void features(VertexId vertex, std::span<float> out) const;
  Split split(VertexId vertex) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

// Writes a generated graph as a data set on disk.

struct GenerateOptions {
  bool replace = false;   // whether an existing data set may be replaced
  bool float16 = false;   // store features in half precision
  int threads = 0;        // 0: all cores that this process may use
  ProgressLine progress;  // may be empty
};

/// Writes the graph to the folder `place`. The same spec gives the same bytes on any number of threads.
/// Throws Error and leaves nothing behind if the spec or the place won't do, and at once if the disk has too
/// little room. Memory: about 20 bytes per vertex, the writer's sort, and the targets if multi-label.
DatasetMeta generate_dataset(const CommunitySpec& spec, const std::filesystem::path& place,
                             const GenerateOptions& options);

}  // namespace atl
