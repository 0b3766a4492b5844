// What a DatasetWriter tells a user of data that may not be what was meant.
#include "base/readable.h"
#include "dataset/writer_state.h"

namespace atl {

void DatasetWriter::State::say(const std::string& line) const {
  if (options.progress) options.progress(line);
}

void DatasetWriter::State::warn(const std::string& line) const {
  if (options.warning) options.warning(line);
}

void DatasetWriter::State::tell_arcs(const ArcTotals& totals) const {
  if (totals.duplicates > 0) {
    say(fmt::format("{}: {} of {} arcs are duplicates; {}", meta.name, count_text(totals.duplicates),
                    count_text(totals.given),
                    options.weighted ? "their weights are added up" : "each arc is kept once"));
  }
  if (totals.self_loops > 0) {
    say(fmt::format("{}: {} self-loops are kept; --remove-self-loops drops them", meta.name,
                    count_text(totals.self_loops)));
  }
}

/// An undirected graph whose edges are stored once looks like a directed one: whoever imports it has to say.
void DatasetWriter::State::tell_direction(const ArcTotals& totals) const {
  if (totals.symmetric) return;
  const std::string found = fmt::format("{}: {:.0f} % of arcs have their reverse. An arc u → v: v reads u.",
                                        meta.name, 100 * totals.reverse_share);
  if (options.direction_is_known || totals.reverse_share == 1) return say(found);
  warn(found +
       " If edges are undirected, add --symmetrise; if arcs point the other way, --transpose; if they are "
       "right, --no-symmetrise");
}

namespace {

/// "1 … 9, 11 … 19"; of many ranges the first three.
std::string ranges_of_zeros(std::span<const Index> counts) {
  std::string text;
  int ranges = 0;
  for (std::size_t begin = 0; begin < counts.size(); ++begin) {
    if (counts[begin] != 0) continue;
    std::size_t last = begin;
    while (last + 1 < counts.size() && counts[last + 1] == 0) ++last;
    if (++ranges > 3) return text + ", …";
    text +=
        (text.empty() ? "" : ", ") + std::to_string(begin) + (last > begin ? fmt::format(" … {}", last) : "");
    begin = last;
  }
  return text;
}

}  // namespace

void DatasetWriter::State::tell_classes(std::span<const Index> vertices_of) const {
  const std::string empty = ranges_of_zeros(vertices_of);
  if (empty.empty()) return;
  warn(fmt::format(
      "{}: labels are taken as classes 0 … {}, and no vertex has {}. If labels are numbered otherwise, add "
      "--relabel",
      meta.name, vertices_of.size() - 1, empty));
}

void DatasetWriter::State::tell_missing_split() const {
  if (labelled < 0 || !meta.splits.empty()) return;
  warn(fmt::format(
      "{}: there is no split, and training needs one: add --split random:60/20/20, or a file of masks",
      meta.name));
}

void DatasetWriter::State::tell_first_id() const {
  if (vertices_are_given || smallest_id != 1) return;
  warn(
      fmt::format("{}: vertex 0 has no arcs, and ids run from 1 to {}. If they count from 1, add --one-based",
                  meta.name, meta.vertices - 1));
}

}  // namespace atl
