// What a DatasetWriter holds until it is finished. Private to writer.cc, which fills it, and
// writer_finish.cc, which writes it out.
#pragma once

#include <map>
#include <optional>
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
  void write_checksums();

  WriterOptions options;
  AtomicFolder folder;
  ThreadPool pool;
  ArcSorter arcs;
  std::optional<FeatureWriter> features;
  DatasetMeta meta;
  std::vector<std::uint8_t> training;  // (vertices) column 0 of the split that scaling is measured on
  Index labelled = -1, with_original_id = -1;
  std::map<std::string, Index> split_rows;
};

}  // namespace atl
