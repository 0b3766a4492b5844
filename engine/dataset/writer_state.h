// The state of a DatasetWriter until it is finished. Private to writer.cc, which fills it, and
// writer_finish.cc, which writes it out.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/threads.h"
#include "dataset/arc_sorter.h"
#include "dataset/feature_writer.h"
#include "dataset/writer.h"

namespace atl {

struct DatasetWriter::State {
  State(const std::filesystem::path& place, WriterOptions options_);

  void check_rows(const char* what, Index rows) const;
  void check_parts() const;
  Index predicted_peak() const;
  void write_arcs();
  void write_features();
  void note_arcs(const ArcTotals& totals);
  void refuse_heavy(const HeavyArc& arc) const;
  void tell_arcs(const ArcTotals& totals) const;
  void tell_direction(const ArcTotals& totals) const;
  void tell_classes(std::span<const Index> vertices_of) const;
  void tell_missing_split() const;
  void tell_first_id() const;
  std::vector<std::uint8_t> drawn_split() const;
  void say(const std::string& line) const;
  void warn(const std::string& line) const;
  void write_checksums();
  void keep_arcs(std::span<const VertexId> src, std::span<const VertexId> dst);
  void take_edges();
  void tell_left_out(const LeftOut& left);
  void tell_two_sides() const;
  void write_edges(std::size_t first_arc);
  void make_features();

  WriterOptions options;
  AtomicFolder folder;
  ThreadPool pool;
  ArcSorter arcs;
  std::optional<FeatureWriter> features;
  DatasetMeta meta;
  std::vector<std::uint8_t> training;   // (vertices) marks of the split column on which scaling is measured
  std::vector<std::uint8_t> has_label;  // (vertices) if a split is drawn
  std::vector<std::int64_t> original_ids;  // (vertices) if a split is drawn; empty: ids are row numbers
  VertexId smallest_id = std::numeric_limits<VertexId>::max();  // of all arcs' ends
  bool vertices_are_given = false;
  Index labelled = -1, with_original_id = -1;
  std::map<std::string, Index> split_rows;
  std::vector<VertexPair> kept_arcs;  // from which an edge split is drawn
  VertexId largest_kept = -1;         // largest id in kept_arcs
  std::optional<EdgeSplit> edges;
  std::string edges_source;
};

}  // namespace atl
