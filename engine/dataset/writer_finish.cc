// The second half of a DatasetWriter, which writes what was handed over as the files of a data set.
#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "base/text.h"
#include "dataset/dataset.h"
#include "dataset/format/npy.h"
#include "dataset/format/npy_writer.h"
#include "dataset/writer_state.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

std::string in_mebibytes(Index bytes) {
  return fmt::format("{} MiB", (bytes + (1 << 20) - 1) >> 20);
}

}  // namespace

void DatasetWriter::State::check_rows(const char* what, Index rows) const {
  if (rows >= 0 && rows != meta.vertices) {
    fail("{}: has {} for {} of {} vertices; give one row per vertex, in the order of ids", meta.name, what,
         rows, meta.vertices);
  }
}

/// Returns (labels) parts; a vertex without a label is in no part.
std::vector<std::uint8_t> DatasetWriter::State::drawn_split() const {
  if (labelled < 0)
    fail("{}: --split: there are no labels; give labels, or import without --split", meta.name);
  std::vector<std::uint8_t> split(has_label.size());
  for (std::size_t v = 0; v < split.size(); ++v) {
    const std::int64_t id = v < original_ids.size() ? original_ids[v] : std::int64_t(v);
    if (has_label[v]) split[v] = std::uint8_t(options.split->part_of(id));
  }
  return split;
}

void DatasetWriter::State::check_parts() const {
  if (arcs.given() == 0) fail("{}: the graph has no arcs; give at least one", meta.name);
  if (options.transpose && options.symmetrise) {
    fail(
        "{}: --transpose changes nothing where the reverse of every arc is added; leave it out, or add --no-symmetrise",
        meta.name);
  }
  check_rows("features", features ? features->rows() : -1);
  check_rows("labels", labelled);
  check_rows("original ids", with_original_id);
  for (const auto& [name, rows] : split_rows) check_rows(("the split '" + name + "'").c_str(), rows);
  if (options.scaling == FeatureScaling::kTraining && features && training.empty()) {
    fail("{}: --scale-features training needs a split; add one, or leave the option out", meta.name);
  }
}

/// Peak memory in bytes: the most that this process has held so far (importers read labels and ids whole), or
/// what it holds now plus the sort. Everything after the sort streams through buffers.
Index DatasetWriter::State::predicted_peak() const {
  const ProcessMemory now = process_memory();
  const Index sorting = arcs.predicted_bytes(pool.threads(), options.symmetrise);
  return std::max<Index>(now.peak_bytes, now.resident_bytes + sorting);
}

void DatasetWriter::State::write_arcs() {
  NpyWriter offsets(folder.path() / "offsets.npy", Dtype::kInt64);
  NpyWriter columns(folder.path() / "columns.npy", Dtype::kInt32);
  std::optional<NpyWriter> weights;
  if (options.weighted) weights.emplace(folder.path() / "weights.npy", Dtype::kFloat32);
  std::vector<std::int64_t> ends{0};
  offsets.append(ends);
  const ArcSorter::Options sorting{meta.vertices, options.symmetrise, options.remove_self_loops};
  note_arcs(arcs.sort(sorting, pool, [&](const SortedRows& rows) {
    const std::int64_t begin = ends.back();
    ends.assign(rows.degrees.begin(), rows.degrees.end());
    ends[0] += begin;
    for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
    offsets.append(ends);
    columns.append(rows.sources);
    if (weights) weights->append(rows.weights);
  }));
  offsets.finish();
  columns.finish();
  if (weights) weights->finish();
}

/// Names the arc by the ids of the source.
void DatasetWriter::State::refuse_heavy(const HeavyArc& arc) const {
  std::int64_t src = arc.src, dst = arc.dst;
  if (with_original_id >= 0) {
    const NpyArray ids = NpyArray::open(folder.path() / "original_ids.npy");
    src = ids.values<std::int64_t>()[std::size_t(arc.src)];
    dst = ids.values<std::int64_t>()[std::size_t(arc.dst)];
  }
  if (options.transpose) std::swap(src, dst);
  fail(
      "{}: the arc {} → {} is given several times, and its weights add up to {:.4g}, too large for float32 (at most {:.2g}); "
      "scale the weights, give the arc once, or leave out --weights",
      meta.name, src, dst, arc.weight, std::numeric_limits<float>::max());
}

void DatasetWriter::State::note_arcs(const ArcTotals& totals) {
  if (totals.too_heavy) refuse_heavy(*totals.too_heavy);
  if (totals.arcs == 0)
    fail(
        "{}: all arcs are self-loops, so --remove-self-loops leaves none; leave the option out, or give "
        "other arcs",
        meta.name);
  meta.arcs = totals.arcs;
  meta.self_loops = totals.self_loops;
  meta.symmetric = totals.symmetric;
  if (options.remove_self_loops) {
    meta.transforms.push_back(fmt::format("removed {} self-loops", totals.self_loops_removed));
  }
  meta.transforms.push_back(fmt::format("{} {} duplicates of {} arcs",
                                        options.weighted ? "added up" : "removed", totals.duplicates,
                                        totals.given));
  if (options.transpose) meta.transforms.push_back("transposed: turned every arc");
  if (options.symmetrise) meta.transforms.push_back("symmetrised: added the reverse of every arc");
  tell_arcs(totals);
  tell_direction(totals);
}

void DatasetWriter::State::write_features() {
  if (!features) return;
  const FeatureWriter::Stored stored = features->finish(training);
  meta.feature_form = stored.form;
  meta.feature_nonzeros = stored.nonzeros;
  if (options.scaling == FeatureScaling::kRow)
    meta.transforms.push_back("features: each row divided by its sum");
  if (options.scaling == FeatureScaling::kTraining) {
    meta.transforms.push_back("features: standardised on the training rows");
  }
  features.reset();
}

void DatasetWriter::State::write_checksums() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder.path())) files.push_back(entry.path());
  // The largest comes first, so that it isn't left to one thread at the end.
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(fs::file_size(b), a) < std::pair(fs::file_size(a), b);
  });
  std::vector<std::string> sums(files.size());
  pool.run(Index(files.size()),
           [&](Index i, int) { sums[std::size_t(i)] = sha256_of_file(files[std::size_t(i)]); });
  for (std::size_t i = 0; i < files.size(); ++i) meta.checksums[files[i].filename().string()] = sums[i];
}

DatasetMeta DatasetWriter::finish() {
  State& s = *state_;
  if (s.meta.vertices == 0) s.meta.vertices = std::max<Index>(s.arcs.vertices_seen(), s.largest_kept + 1);
  s.take_edges();
  s.tell_first_id();
  if (s.options.split) {
    const std::vector<std::uint8_t> split = s.drawn_split();
    const std::string name = s.meta.splits.contains("default") ? "random" : "default";
    add_split(name, {split.data(), Index(split.size()), 1}, "--split");
    add_transform(fmt::format("split '{}': drawn, {}", name, s.options.split->description()));
    if (name != "default")
      report(
          "the source has a split, and a run takes that; with dataset.split: random it takes the drawn one");
  }
  s.make_features();
  s.check_parts();
  s.tell_missing_split();
  report(fmt::format("{}: sorting {} arcs of {} vertices; peak memory about {}", s.meta.name, s.arcs.given(),
                     s.meta.vertices, in_mebibytes(s.predicted_peak())));
  s.write_arcs();
  s.write_features();
  s.write_checksums();
  const fs::path path = s.folder.path() / "meta.json";
  std::ofstream file(path, std::ios::binary);
  file << print_meta(s.meta);
  file.close();
  if (!file) fail("{}: cannot be written; free space there or choose another place", path.string());
  s.folder.commit();
  return s.meta;
}

// What a DatasetWriter tells a user about data that may not be as intended.

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

/// Warns, because an undirected graph whose edges are stored once looks like a directed one; the user has to
/// say which it is.
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

/// Returns "1 … 9, 11 … 19"; only the first three of many ranges.
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
