#include "sampler/structure.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "sampler/owners.h"

namespace atl {

// Every rank reads the whole prepared graph. The pages that ranks touch are in memory once per server, and
// are dropped when memory is short.

namespace {

class MappedStructure final : public Structure {
 public:
  MappedStructure(const DrawnGraph& graph, ThreadPool& pool) : draws_(graph, pool) {}

  bool weighted() const override { return draws_.weighted(); }

  void draw(const HopDraw& hop, std::span<const VertexId> rows, DrawnArcs& out) override {
    draws_.count_neighbours(hop, rows, out.neighbours.take(Index(rows.size())));
    out.lay_out(hop, weighted() || hop.weighs());
    draws_.arcs(hop, rows, out.neighbours.span(), out.offsets.span(), out.columns.span(), out.weights.span());
  }

  void describe(const HopDraw& hop, std::span<const VertexId> rows, std::span<VertexId> ids,
                std::optional<std::span<double>> degrees) override {
    draws_.describe(hop, rows, ids, degrees);
  }

  Index reallocations() const override { return 0; }

 private:
  RowDraws draws_;
};

}  // namespace

void DrawnArcs::lay_out(const HopDraw& hop, bool weighted) {
  const Index rows = neighbours.size();
  offsets.take(rows + 1);
  offsets[0] = 0;
  for (Index i = 0; i < rows; ++i) offsets[i + 1] = offsets[i] + neighbours[i].arcs(hop);
  columns.take(offsets[rows]);
  weights.take(weighted ? offsets[rows] : 0);
}

Index DrawnArcs::reallocations() const {
  return neighbours.reallocations() + offsets.reallocations() + columns.reallocations() +
         weights.reallocations();
}

DrawnGraph drawn_graph(const PreparedGraph& graph, bool induced, bool by_id) {
  DrawnGraph drawn{induced ? graph.induced_graph() : graph.graph(), {}, graph.ids()};
  if (by_id) drawn.by_id = induced ? graph.induced_graph_by_id() : graph.graph_by_id();
  return drawn;
}

std::unique_ptr<Structure> mapped_structure(const DrawnGraph& graph, ThreadPool& pool) {
  return std::make_unique<MappedStructure>(graph, pool);
}

// Each rank reads only the arcs of its own parts, and a rank that wants neighbours of other rows asks their
// owners. Draws are keyed, so the owner can draw and answer with the drawn neighbours alone. An answer's
// bytes grow with the number drawn, not with the row's number of neighbours.

namespace {

class PartitionedStructure final : public Structure {
 public:
  PartitionedStructure(const DrawnGraph& graph, const Owners& owners, Communicator& comm, ThreadPool& pool,
                       const RowRoute& route)
      : draws_(graph, pool),
        route_(route),
        requests_(owners, comm, route.lane),
        ranks_(std::size_t(comm.size())) {
    asked_arcs_.resize(ranks_ + 1), wanted_arcs_.resize(ranks_ + 1);
  }

  bool weighted() const override { return draws_.weighted(); }

  void draw(const HopDraw& hop, std::span<const VertexId> rows, DrawnArcs& out) override {
    requests_.ask(route_.structure, rows);
    draws_.count_neighbours(hop, requests_.asked(), asked_.neighbours.take(Index(requests_.asked().size())));
    const auto neighbours = requests_.by_row(asked_.neighbours, wanted_.neighbours);
    requests_.answer(route_.structure, {&neighbours, 1});
    const bool weighted = has_weights(hop);
    asked_.lay_out(hop, weighted);
    wanted_.lay_out(hop, weighted);
    draws_.arcs(hop, requests_.asked(), asked_.neighbours.span(), asked_.offsets.span(),
                asked_.columns.span(), asked_.weights.span());
    receive_arcs(weighted);
    in_order(hop, out);
  }

  void describe(const HopDraw& hop, std::span<const VertexId> rows, std::span<VertexId> ids,
                std::optional<std::span<double>> degrees) override {
    requests_.ask(route_.ids, rows);
    const auto asked = Index(requests_.asked().size());
    const auto asked_degrees = asked_degrees_.take(degrees ? asked : 0);
    draws_.describe(hop, requests_.asked(), asked_ids_.take(asked),
                    degrees ? std::optional(asked_degrees) : std::nullopt);
    const std::array answers{requests_.by_row(asked_ids_, ids_), requests_.by_row(asked_degrees_, degrees_)};
    requests_.answer(route_.ids, std::span(answers).first(degrees ? 2 : 1));
    const auto places = requests_.places();
    for (std::size_t i = 0; i < places.size(); ++i) ids[std::size_t(places[i])] = ids_[Index(i)];
    for (std::size_t i = 0; degrees && i < places.size(); ++i)
      (*degrees)[std::size_t(places[i])] = degrees_[Index(i)];
  }

  Index reallocations() const override {
    return requests_.reallocations() + asked_.reallocations() + wanted_.reallocations() +
           asked_ids_.reallocations() + ids_.reallocations() + asked_degrees_.reallocations() +
           degrees_.reallocations();
  }

 private:
  bool has_weights(const HopDraw& hop) const { return weighted() || hop.weighs(); }

  void receive_arcs(bool weighted) {
    for (std::size_t r = 0; r <= ranks_; ++r) {
      asked_arcs_[r] = asked_.offsets[requests_.asked_begin()[r]];
      wanted_arcs_[r] = wanted_.offsets[requests_.wanted_begin()[r]];
    }
    const std::array<RowRequests::Answers, 2> arrays{
        {{asked_.columns.data(), asked_arcs_, wanted_.columns.data(), wanted_arcs_, Index(sizeof(VertexId))},
         {asked_.weights.data(), asked_arcs_, wanted_.weights.data(), wanted_arcs_, Index(sizeof(float))}}};
    requests_.answer(route_.structure, std::span(arrays).first(weighted ? 2 : 1));
  }

  /// Reorders what arrived from the order of owners to that of the rows.
  void in_order(const HopDraw& hop, DrawnArcs& out) const {
    const auto places = requests_.places();
    out.neighbours.take(Index(places.size()));
    for (std::size_t i = 0; i < places.size(); ++i) out.neighbours[places[i]] = wanted_.neighbours[Index(i)];
    const bool weighted = has_weights(hop);
    out.lay_out(hop, weighted);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Index from = wanted_.offsets[Index(i)], count = wanted_.offsets[Index(i) + 1] - from,
                  to = out.offsets[places[i]];
      std::copy_n(wanted_.columns.data() + from, count, out.columns.data() + to);
      if (weighted) std::copy_n(wanted_.weights.data() + from, count, out.weights.data() + to);
    }
  }

  RowDraws draws_;
  const RowRoute route_;
  RowRequests requests_;
  std::size_t ranks_;
  DrawnArcs asked_, wanted_;                     // by asking rank, and by owner
  std::vector<Index> asked_arcs_, wanted_arcs_;  // (ranks + 1) begins of each rank's arcs
  Reusable<VertexId> asked_ids_, ids_;           // likewise
  Reusable<double> asked_degrees_, degrees_;
};

}  // namespace

std::unique_ptr<Structure> partitioned_structure(const DrawnGraph& graph, const Owners& owners,
                                                 Communicator& comm, ThreadPool& pool,
                                                 const RowRoute& route) {
  return std::make_unique<PartitionedStructure>(graph, owners, comm, pool, route);
}

}  // namespace atl
