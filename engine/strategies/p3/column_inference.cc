#include "strategies/p3/column_inference.h"

#include <algorithm>
#include <numeric>

namespace atl {
namespace {

GroupBatchOptions forward_alone(const Model& model) {
  GroupBatchOptions options = group_options(model);
  options.transposed = options.places = false;
  return options;
}

}  // namespace

ColumnInference::ColumnInference(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
                                 const BatchGraph& graph, const SlabOptions& options)
    : ctx_(ctx),
      comm_(comm),
      parameters_(parameters),
      graph_(graph),
      held_(*graph.columns),
      layers_(slab_segments(model).front()),
      group_options_(forward_alone(model)),
      structure_(whole_structure(graph, comm, *ctx.pool, options.mapped)),
      sampler_(*structure_, slab_sampling(model, layers_)),
      push_(comm, *ctx.pool, held_, group_options_, kEvaluationRoute),
      runner_(ctx, model, comm.trace()),
      pass_(ctx, comm, model, held_.share,
            {.end = layers_.end,
             .seed = options.seed,
             .traffic = {.forward = Traffic::kEvaluation, .back = Traffic::kEvaluation}}),
      memory_(ctx.device, model, layers_, Passes::kInference),
      copies_(ctx) {
  ATOLL_CHECK(infers_by_columns(model), "layers before the first product");
  if (!options.mapped) return;
  for (const Rank rank : held_.share.group)
    members_.push_back(
        {slab_begins(model, graph.whole.whole, graph.owners, rank, options.bytes, options.width), {}, {}});
}

/// Rows begin … end − 1 of those that `rank` owns, as numbers in the prepared graph.
std::span<const VertexId> ColumnInference::seeds_of(Rank rank, Index begin, Index end) {
  seeds_.resize(std::size_t(end - begin));
  std::iota(seeds_.begin(), seeds_.end(), VertexId(graph_.owners.first_row(rank) + begin));
  return seeds_;
}

void ColumnInference::infer(std::span<const Index> begins, MatrixView out) {
  for (std::size_t slab = 0; slab + 1 < begins.size(); ++slab) {
    sampler_.sample(0, seeds_of(comm_.rank(), begins[slab], begins[slab + 1]), own_);
    if (members_.empty())
      push_.push(own_, group_, features_);
    else
      read_group(slab);
    copies_.restart();
    pass_.begin(own_, group_, 0, false);
    const auto rows = pass_.rows().begin();
    memory_.shape({rows + layers_.first, rows + layers_.end});
    features_.take_self(group_.first_destinations());
    runner_.forward(pass_, parameters_.present(), memory_,
                    {copies_.of(features_.rows()), {}, copies_.of(features_.self())});
    axpby(ctx_, 1, memory_.output(layers_.end - 1), 0,
          out.slice_rows(begins[slab], begins[slab + 1] - begins[slab]));
  }
}

/// Fills the group's batch as pushes would, from every member's slab, which is sampled here.
void ColumnInference::read_group(std::size_t slab) {
  const ColumnShare& share = held_.share;
  const std::size_t length = PushedSizes::length(group_options_.hops);
  std::vector<std::int64_t> sizes, all;
  std::vector<const std::byte*> structures;
  std::vector<const VertexId*> ids;
  for (int m = 0; m < share.members(); ++m) {
    Pushed& member = members_[std::size_t(m)];
    const auto begin_of = [&](std::size_t at) {
      return member.begins[std::min(at, member.begins.size() - 1)];
    };
    if (m != share.place)
      sampler_.sample(0, seeds_of(share.group[std::size_t(m)], begin_of(slab), begin_of(slab + 1)), others_);
    const Batch& batch = m == share.place ? own_ : others_;
    PushedSizes::of(batch, group_options_.hops, sizes);
    ATOLL_CHECK(sizes.size() == length, "{} sizes of a slab", sizes.size());
    all.insert(all.end(), sizes.begin(), sizes.end());
    GroupBatch::pack(
        group_options_, batch,
        member.structure.take(GroupBatch::pushed_bytes(group_options_, {sizes, group_options_.hops})).data());
    std::ranges::copy(batch.ids(), member.ids.take(Index(batch.ids().size())).begin());
    structures.push_back(member.structure.data());
    ids.push_back(member.ids.data());
  }
  group_.shape(group_options_, all, share.place);
  group_.fill(structures, ids);
  features_.gather(*ctx_.pool, held_.values, group_.ids(), held_.sparse);
}

void ColumnInference::count(ScheduleBytes& bytes) const {
  memory_.count(bytes);
  bytes.halo += pass_.bytes() + features_.bytes() + group_.bytes() + own_.bytes() + others_.bytes();
  for (const Pushed& each : members_) bytes.halo += each.structure.bytes() + each.ids.bytes();
}

WholeWeights::WholeWeights(Communicator& comm, const Model& whole_model, const Parameters& held,
                           const ColumnShare& share, std::uint64_t seed)
    : comm_(comm),
      held_(held),
      share_(share),
      whole_(
          whole_model.parameters(), seed, [](int, const ParameterSpec&) { return Placement(); },
          held.device()) {
  ATOLL_CHECK(whole_.entries().size() == held.entries().size(), "{} parameters, {} held",
              whole_.entries().size(), held.entries().size());
}

void WholeWeights::refresh(Context& ctx) {
  const Real* from = const_cast<Parameters&>(held_).values().data();  // only read
  Real* const to = whole_.values().data();
  for (std::size_t i = 0; i < held_.entries().size(); ++i) {
    const Parameters::Entry& entry = held_.entries()[i];
    Real* const place = to + whole_.entries()[i].offset;
    if (entry.placement.everywhere())
      axpby(ctx, 1, {from + entry.offset, 1, entry.count}, 0, {place, 1, entry.count});
    else
      fetch(ctx, entry, place);
  }
}

/// A member holds its rows of the weight next to each other. Here they lie in several ranges.
void WholeWeights::fetch(Context& ctx, const Parameters::Entry& entry, Real* to) {
  const Index cols = entry.spec.cols;
  const MatrixView whole(to, entry.spec.rows, cols);
  const Real* own = const_cast<Parameters&>(held_).values().data() + entry.offset;
  const auto rows_of = [&](int m) {
    return Placement{rows_of_input(entry.spec, share_.first_of(m), share_.count_of(m)), {}};
  };
  Index most = 0;
  for (int m = 0; m < share_.members(); ++m) most += rows_of(m).held(entry.spec.rows) * cols;
  arrived_.grow(1, most, held_.device(), false);
  constexpr Index kWidth = sizeof(Real);
  Real* at = arrived_.data();
  for (int m = 0; m < share_.members(); ++m) {
    const Index count = rows_of(m).held(entry.spec.rows) * cols;
    if (m != share_.place) {
      const Rank peer = share_.group[std::size_t(m)];
      sends_.push_back({peer, reinterpret_cast<std::byte*>(const_cast<Real*>(own)), entry.count * kWidth});
      receives_.push_back({peer, reinterpret_cast<std::byte*>(at), count * kWidth});
    }
    at += count;
  }
  comm_.exchange(Lane::kBulk, Traffic::kEvaluation, sends_, receives_, ctx.stream).wait();
  sends_.clear(), receives_.clear();
  at = arrived_.data();
  for (int m = 0; m < share_.members(); ++m) {
    const Placement placed = rows_of(m);
    const Real* rows = m == share_.place ? own : at;
    for (const RowRange& range : placed.rows) {
      axpby(ctx, 1, {rows, range.count, cols}, 0, whole.slice_rows(range.begin, range.count));
      rows += range.count * cols;
    }
    at += placed.held(entry.spec.rows) * cols;
  }
}

Index WholeWeights::bytes() const {
  Index elements = 0;
  for (const Parameters::Entry& entry : whole_.entries())
    elements += entry.count * (entry.spec.trainable ? 2 : 1);
  return elements * Index(sizeof(Real)) + arrived_.held_bytes();
}

}  // namespace atl
