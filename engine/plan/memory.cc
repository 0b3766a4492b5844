#include "plan/memory.h"

#include <algorithm>

#include "job/samplers.h"

namespace atl {
Index feature_bytes(Index rows, const FeatureShape& f) {
  if (f.form == FeatureForm::kDense) return kReal * reals_of(rows * f.columns, f.storage);
  if (f.form == FeatureForm::kBits)
    return rows * (4 * BitView::words_of(f.columns) + kReal) + f.columns * 4 * BitView::words_of(rows);
  const auto nonzeros = Index(double(rows) * f.nonzeros_per_row);
  return 2 * (8 * nonzeros) + 8 * (rows + f.columns + 2);  // rows and their transpose
}

namespace {

// Measured. kProcess: program, libraries, stacks and heap of an empty job. kMpi: memory that MPI adds. It
// leaves out the library pages that the rank's witness process touches instead. kThread: a thread's stack and
// packed panels.
constexpr Index kProcess = Index(22) << 20, kMpi = Index(5) << 20, kThread = Index(1) << 20;
constexpr const char* kParameters = "parameters and moments";
constexpr Index kRowsOnTheWay = Index(5) << 20;  // collect_rows() and VertexRowsFile

/// Bytes of a CSR matrix.
Index csr_bytes(Index rows, Index arcs, bool weighted) {
  return 8 * (rows + 1) + arcs * (weighted ? 8 : 4);
}

/// Bytes of the own block's arcs and their transpose.
Index own_block_bytes(const RankShape& s, const GraphNeeds& needs, bool weighted) {
  const Index arcs = csr_bytes(s.owned, s.own_arcs, weighted);
  return arcs * (s.own_is_symmetric ? 1 : 2) + (needs.attention ? 8 * s.own_arcs : 0);
}
Index outer_block_bytes(const RankShape& s, const GraphNeeds& needs, bool weighted) {
  return csr_bytes(s.owned, s.outer_arcs, weighted) + csr_bytes(s.halo, s.outer_arcs, weighted) +
         (needs.attention ? 8 * s.outer_arcs : 0);
}

/// Bytes of the arrays of the LocalGraph and of the view, which replaces some of the former.
Index graph_bytes(const RankShape& s, const GraphNeeds& needs, bool weighted) {
  if (s.batches) return 4 * s.owned;
  Index sum = s.view ? s.view->bytes() : 0;
  if (s.replaced() == Replaces::kNothing) sum += outer_block_bytes(s, needs, weighted);
  if (s.replaced() != Replaces::kBoth) sum += own_block_bytes(s, needs, weighted);
  sum += 4 * (s.owned + s.halo) + s.near_bytes;
  if (needs.normalisation == Normalisation::kMean) sum += kReal * s.owned;
  if (needs.normalisation == Normalisation::kSymmetric) sum += kReal * (2 * s.owned + s.halo);
  for (const PeerShape& p : s.peers) sum += 4 * p.send;
  return sum;
}

/// Further bytes while the part is cut out: a cursor per row, the transpose of the own arcs even where it
/// isn't kept, and the arrays that the view replaces.
Index cutting_bytes(const RankShape& s, const GraphNeeds& needs, bool weighted) {
  if (s.batches) return 0;
  Index sum = 8 * s.owned + (s.own_is_symmetric ? csr_bytes(s.owned, s.own_arcs, weighted) : 0);
  if (s.replaced() != Replaces::kNothing) sum += outer_block_bytes(s, needs, weighted);
  if (s.replaced() == Replaces::kBoth) sum += own_block_bytes(s, needs, weighted);
  return sum;
}

/// Bytes of features on a rank that trains on batches.
Index held_bytes(Index rows, const FeatureShape& f) {
  const auto nonzeros = Index(double(rows) * f.nonzeros_per_row);
  if (f.held == FeatureForm::kSparse) return 8 * nonzeros + 8 * (rows + 1);
  if (f.held == FeatureForm::kBits) return rows * (4 * BitView::words_of(f.columns) + kReal);
  return kReal * reals_of(rows * f.columns, f.storage);
}

/// Bytes of a part's features. Halo rows have features only if the first layer gathers.
Index feature_bytes(const RankShape& s, const FeatureShape& f, const Model& model) {
  if (!s.features) return 0;
  if (s.batches) return held_bytes(s.column_rows > 0 ? s.column_rows : s.owned, f);
  Index sum = feature_bytes(s.owned, f);
  if (!model.layers.front()->spec().gathers) return sum;
  if (f.packed() && !s.near.empty() && s.near.back().rows < s.owned)
    sum += feature_bytes(s.near.back().rows, f);  // GraphPart::computed_features
  if (s.view)
    for (const Index rows : s.view->reads()) sum += feature_bytes(rows, f);
  return s.replaced() == Replaces::kNothing ? sum + feature_bytes(s.halo, f) : sum;
}

/// Bytes of weights, gradients, moments, the best epoch's weights, and other ranks' gradients while they are
/// summed.
Index parameter_bytes(const DryRunInput& in, const DryRun& dry) {
  const Index moments = in.job.training.optimizer.kind == OptimizerKind::kSgd ? 1 : 2;
  return kReal * (2 * dry.values + (1 + moments) * dry.trainable) + dry.terms;
}

/// Bytes of the labels of each part's rows, and of the list of row numbers in each split. The training part's
/// list has room for all its rows.
Index label_bytes(const MemoryInput& in) {
  if (!in.run.training.answers) return 0;
  const Index row = in.run.multi_label ? in.run.classes : 4, training = in.run.training.owned;
  if (!in.run.full) return row * training + 4 * in.labelled;
  return row * (in.run.full->owned + training) + 4 * (in.labelled + training);
}

/// Bytes that rank 0 holds while it writes results: vertex numbers, their order, and rows on their way to the
/// file.
Index result_bytes(const MemoryInput& in) {
  if (in.run.training.rank != 0) return 0;
  const Layer& last = *in.model.layers.back();
  const Index rows = kReal * std::max(last.spec().in, last.spec().out) * in.vertices;
  return (4 + (in.original_ids ? 24 : 0)) * in.vertices + std::min(kRowsOnTheWay, rows);
}

}  // namespace

Index RankMemory::on_device() const {
  Index sum = released;
  for (const MemoryItem& item : items) sum += item.on_host ? 0 : item.bytes;
  return sum;
}

Index RankMemory::peak() const {
  return std::max({loading, training, checkpoint, results});
}

Index RankMemory::held() const {
  return std::max({loading - mapped, training, checkpoint});
}

Index RankMemory::replicated() const {
  const auto item = std::ranges::find(items, kParameters, &MemoryItem::name);
  return item == items.end() ? 0 : item->bytes;
}

namespace {

/// For each kind of memory, the largest among the parts that training sees.
struct PartBytes {
  Index graph = 0, features = 0;
  Index reading = 0;  // one part, while it is read
};

PartBytes bytes_of(const MemoryInput& in, const RankShape& part) {
  PartBytes b{graph_bytes(part, in.model.needs, in.weighted), feature_bytes(part, in.run.features, in.model)};
  b.reading =
      b.graph + part.server_bytes + std::max(b.features, cutting_bytes(part, in.model.needs, in.weighted));
  return b;
}

PartBytes training_bytes(const MemoryInput& in) {
  PartBytes most = bytes_of(in, in.run.training);
  for (const RankShape& each : in.run.batches) {
    const PartBytes b = bytes_of(in, each);
    most = {std::max(most.graph, b.graph), std::max(most.features, b.features),
            std::max(most.reading, b.reading)};
  }
  return most;
}

/// Bytes of the constant layers' outputs while the features are still in memory. Ranks compute the outputs
/// for the graph that training sees and then, if evaluation sees another one, for that graph. A layer that
/// doesn't append to its input needs input and output at once.
Index constant_bytes(const MemoryInput& in) {
  const int prefix = in.model.constant_prefix();
  if (prefix == 0) return 0;
  const LayerSpec& last = in.model.spec(prefix - 1);
  const bool twice = in.run.job.training.setting == Setting::kInductive;
  if (in.run.training.batches) {
    const bool held = twice && sums_folder(in.run.job).empty();
    return in.dry.once.total() + (held ? kReal * in.run.training.owned * last.out : 0);
  }
  const auto bytes = [&](Index rows, Index cols) { return kReal * reals_of(rows * cols, in.model.values); };
  const Index making = last.out + (prefix > 1 && !last.appends ? last.in : 0);
  const Index training = in.run.training.owned;
  if (!in.run.full) return bytes(training, making);
  return std::max(bytes(training, making), bytes(training, last.out) + bytes(in.run.full->owned, making));
}

std::vector<Index> batch_bytes(const MemoryInput& in) {
  std::vector<Index> all;
  for (std::size_t b = 0; b < in.run.batches.size(); ++b) {
    const PartBytes part = bytes_of(in, in.run.batches[b]);
    all.push_back(part.graph + part.features + in.dry.batches[b].total());
  }
  return all;
}

}  // namespace

RankMemory rank_memory(const MemoryInput& in) {
  const DryRunInput& run = in.run;
  const GraphNeeds& needs = in.model.needs;
  const bool many = run.training.ranks > 1;
  const PartBytes part = training_bytes(in);
  Index graph = part.graph, features = part.features;
  if (run.beyond) graph += graph_bytes(*run.beyond, needs, in.weighted);
  if (run.full) {
    graph += graph_bytes(*run.full, needs, in.weighted);
    features += feature_bytes(*run.full, run.features, in.model);
  }
  const Index base = kProcess + kThread * run.threads + (many ? kMpi : 0) + label_bytes(in);
  RankMemory m;
  m.mapped = in.mapped + in.pairs.mapped;
  m.beside_gpu = base + graph + in.pairs.loaded +
                 std::max(features, cutting_bytes(run.full ? *run.full : run.training, needs, in.weighted)) +
                 run.training.server_bytes;
  m.loading = m.mapped + m.beside_gpu;
  // RankData::release_features() frees them.
  const bool released =
      in.model.constant_prefix() > 0 && (!run.training.batches || !reads_neighbours(run.job));
  const ScheduleBytes &s = in.dry.schedule, &i = in.dry.inference;
  m.items = {{"program and libraries", kProcess + kThread * run.threads, true},
             {"MPI", many ? kMpi : 0, true},
             {"graph", graph},
             {"features", released ? 0 : features},
             {"read ahead", run.training.is_followed ? part.reading : 0, true},
             {"labels and splits", label_bytes(in)},
             {"activations", s.activations + i.activations},
             {"saved for backward", s.saved + i.saved},
             {"gradients of activations", s.gradients},
             {"halo rows", s.halo + i.halo},
             {"scratch", in.dry.workspace},
             {"pairs", in.pairs.pairs, true},
             {"rows of pairs' ends", in.pairs.ends},
             {"scores of pairs", in.pairs.scoring, true},
             {kParameters, parameter_bytes(run, in.dry)}};
  if (released) {
    m.released = features;
    const Index held = parameter_bytes(run, in.dry) + s.halo + i.halo;
    m.loading = std::max(m.loading, base + graph + features + constant_bytes(in) + held);
  }
  Index on_host = graph + (released ? 0 : features) + kReal * in.dry.values;  // the best epoch's weights
  for (const MemoryItem& item : m.items) m.training += item.bytes, on_host += item.on_host ? item.bytes : 0;
  m.beside_gpu = std::max(m.beside_gpu, on_host);
  m.batches = batch_bytes(in);
  m.passes = s.total() + in.dry.workspace;
  m.inference = i.total();
  m.state = in.dry.state;
  m.checkpoint = m.training;
  m.results = m.training + result_bytes(in);
  return m;
}

}  // namespace atl
