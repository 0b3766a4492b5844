// Adjacency lists, as NetworkX and DeepWalk write them: a line begins with a vertex, and its neighbours follow, separated
// by spaces, tabs or commas; '#' begins a comment. A vertex alone in its line has no neighbours there. v in u's line is
// the arc u → v. Ids may have gaps, as in an edge list. NetworkX writes an undirected edge once, DeepWalk's files have it
// in both lines: the user says which (--symmetrise).
#include "base/error.h"
#include "dataset/import/adjacency_lines.h"
#include "dataset/import/importers.h"
#include "dataset/import/mapped_arcs.h"

namespace atl {

void import_adjacency(const std::filesystem::path& path, const ImportOptions& options,
                      DatasetWriter& writer) {
  if (options.weights) fail("{}: an adjacency list holds no weights; leave out --weights", path.string());
  MappedArcs arcs(writer.scratch_folder());
  read_adjacency_lines(path, [&](std::int64_t vertex, std::span<const std::int64_t> neighbours) {
    arcs.add_vertex(vertex);
    for (const std::int64_t neighbour : neighbours) arcs.add({vertex, neighbour});
  });
  if (arcs.arcs() == 0)
    fail("{}: holds no arcs; give a file with a vertex and its neighbours in each line", path.string());
  writer.set_symmetrise(symmetrises(options, false));
  arcs.hand_over(path.string(), writer);
}

}  // namespace atl
