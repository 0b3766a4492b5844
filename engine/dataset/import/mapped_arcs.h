// Arcs between ids that may have gaps and 64 bits. They wait in a temporary file until all ids are known, which then are
// 0 … n − 1 in ascending order; the original ones are kept.
#pragma once

#include <filesystem>
#include <string>

#include "dataset/import/arc_fields.h"
#include "dataset/import/id_map.h"
#include "dataset/scratch_file.h"
#include "dataset/writer.h"

namespace atl {

class MappedArcs {
 public:
  /// The temporary file lies in `scratch`.
  explicit MappedArcs(const std::filesystem::path& scratch) : arrived_(scratch) {}

  void add(const IdArc& arc);
  /// A vertex that may have no arcs.
  void add_vertex(std::int64_t id) { ids_.add(id); }
  Index arcs() const { return arcs_; }

  /// Gives the writer vertices, arcs and original ids. Call once; `source` begins errors.
  void hand_over(const std::string& source, DatasetWriter& writer);

 private:
  ScratchFile arrived_;
  IdCollector ids_;
  Index arcs_ = 0;
};

}  // namespace atl
