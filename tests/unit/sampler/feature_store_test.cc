// Features of batches: the same bits from memory, from their owner and from any cache.
#include "sampler/feature_store.h"

#include <gtest/gtest.h>

#include <numeric>

#include "comm/ranks.h"
#include "sampler/row_cache.h"
#include "sampler/rows_of_steps.h"
#include "sampler/sampled_graph.h"
#include "tensor/bfloat16.h"

namespace atl {
namespace {

constexpr Index kCols = 7;

Real value(Index row, Index col) {
  return Real(Draws(5, Purpose::kGenerator).uniform_at(std::uint64_t(row), std::uint64_t(col)));
}

/// One rank's store over features that value() gives.
struct Store {
  Store(Communicator& comm_, const FeatureStoreOptions& options)
      : comm(comm_), owners(kParts, comm_.size()), own(owners.rows(comm_.rank()), kCols) {
    for (Index r = 0; r < own.rows(); ++r)
      for (Index c = 0; c < kCols; ++c) own.at(r, c) = value(owners.first_row(comm.rank()) + r, c);
    store.emplace(ctx, owners, comm, std::as_const(own).view(), options);
  }

  Communicator& comm;
  Owners owners;
  Matrix own;
  ThreadPool pool{2};
  Workspace workspace;
  Context ctx{Device::kCpu, &pool, &workspace};
  std::optional<FeatureStore> store;
};

void expect_rows(Store& s, std::span<const VertexId> rows, const Matrix& found, bool rounded) {
  ASSERT_EQ(found.rows(), Index(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (Index c = 0; c < kCols; ++c) {
      Real expected = value(rows[i], c);
      if (rounded && !s.owners.owns(s.comm.rank(), rows[i]))
        expected = Real(to_float(to_bfloat16(float(expected))));
      EXPECT_EQ(found.at(Index(i), c), expected) << "row " << rows[i];
    }
}

TEST(FeatureStore, GivesTheSameValuesWithAnyCache) {
  for (const bool rounded : {false, true})
    for (const Index cache : {0, 900, 1 << 20})
      for (const CachePolicy policy : {CachePolicy::kDegree, CachePolicy::kLru})
        for (const int ranks : {1, 3, 5})
          run_ranks(ranks, [&](Communicator& comm) {
            Store s(comm, {rounded, cache, policy});
            std::vector<VertexId> others;
            for (VertexId row = 0; row < kRows; ++row)
              if (!s.owners.owns(comm.rank(), row)) others.push_back(row);
            if (policy != CachePolicy::kLru) s.store->fill_cache(others);
            FeatureRows found;
            Index total = 0;
            for (int step = 0; step < 12; ++step) {
              const auto rows = rows_of(comm.rank(), step);
              s.store->fetch(rows, found);
              expect_rows(s, rows, found.dense, rounded);
              total += Index(rows.size());
            }
            const FeatureStore::Counts counts = s.store->counts();
            EXPECT_EQ(counts.own + counts.hits + counts.fetched, total);
            EXPECT_EQ(counts.hits > 0, cache > 0 && ranks > 1);
            const bool holds_all = cache > 4000 && policy != CachePolicy::kLru;
            EXPECT_EQ(counts.fetched == 0, holds_all || ranks == 1);
          });
}

/// Rows that are held in halves stay so in a cache and in a batch. Rounding them again, for the wire, changes
/// nothing.
TEST(FeatureStore, GivesHalvesAsTheyAreHeld) {
  for (const bool narrow : {false, true})
    for (const Index cache : {0, 900})
      run_ranks(3, [&](Communicator& comm) {
        const Owners owners(kParts, comm.size());
        const Index rows = owners.rows(comm.rank()), first = owners.first_row(comm.rank());
        Matrix memory(1, reals_of(rows * kCols, Storage::kHalves));
        const MatrixView own(memory.data(), rows, kCols, Storage::kHalves);
        for (Index r = 0; r < rows; ++r)
          for (Index c = 0; c < kCols; ++c)
            own.halves[r * kCols + c] = to_bfloat16(float(value(first + r, c)));
        ThreadPool pool(2);
        Workspace workspace;
        Context ctx{Device::kCpu, &pool, &workspace};
        FeatureStore store(ctx, owners, comm, ConstMatrixView(own),
                           {.bfloat16 = narrow, .cache_bytes = cache, .policy = CachePolicy::kLru});
        FeatureRows found;
        for (int step = 0; step < 12; ++step) {
          const auto wanted = rows_of(comm.rank(), step);
          store.fetch(wanted, found);
          const ConstMatrixView batch = found.rows().dense;
          ASSERT_EQ(found.storage(), Storage::kHalves);
          ASSERT_EQ(batch.rows, Index(wanted.size()));
          for (std::size_t i = 0; i < wanted.size(); ++i)
            for (Index c = 0; c < kCols; ++c)
              EXPECT_EQ(to_float(batch.halves[Index(i) * kCols + c]),
                        to_float(to_bfloat16(float(value(wanted[i], c)))))
                  << "row " << wanted[i];
        }
        EXPECT_EQ(store.counts().hits > 0, cache > 0);
        EXPECT_GT(store.counts().fetched, 0);
      });
}

TEST(FeatureStore, BytesAreThoseOfTheRowsThatWereFetched) {
  for (const bool rounded : {false, true})
    run_ranks(2, [&](Communicator& comm) {
      Store s(comm, {.bfloat16 = rounded});
      FeatureRows found;
      std::vector<VertexId> rows(std::size_t{kRows});
      std::iota(rows.begin(), rows.end(), 0);
      if (comm.rank() == 1) rows.clear();
      s.store->fetch(rows, found);
      const Index remote = comm.rank() == 1 ? s.owners.rows(1) : 0;  // asked of rank 1 alone
      const Index row_bytes = kCols * Index(rounded ? 2 : sizeof(Real)),
                  asks = comm.rank() == 0 ? s.owners.rows(1) : 0;
      EXPECT_EQ(comm.ledger().bytes(Link::kIntra, Traffic::kFeatures),
                8 + asks * Index(sizeof(VertexId)) + remote * row_bytes);
      EXPECT_EQ(comm.ledger().bytes(Link::kIntra), comm.ledger().bytes(Link::kIntra, Traffic::kFeatures));
    });
}

TEST(FeatureStore, AfterTheLargestBatchNothingGrows) {
  run_ranks(3, [&](Communicator& comm) {
    Store s(comm, {.cache_bytes = 900, .policy = CachePolicy::kLru});
    FeatureRows found;
    Index before = 0;
    for (int step = 0; step < 400; ++step) {
      s.store->fetch(rows_of(comm.rank(), step), found);
      if (step == 40) before = s.store->reallocations();
    }
    EXPECT_EQ(s.store->reallocations(), before);
  });
}

TEST(CacheRows, AreAtMostThoseOfOthers) {
  const std::vector<Index> parts{0, 10, 40, 60};
  const Owners owners(parts, 3);
  const RowBytes row = row_bytes(FeatureForm::kDense, 8, 0, false);
  EXPECT_EQ(cache_rows(owners, 0, row), 0);
  EXPECT_EQ(cache_rows(owners, 3 * RowCache::bytes_of_cell(8 * sizeof(Real)), row), 3);
  EXPECT_EQ(cache_rows(owners, Index(1) << 50, row), 50)
      << "the rank with the fewest rows reads the most of others";
}

TEST(CacheRows, ThoseWithTheMostNeighboursComeFirst) {
  const SampledGraph graph({.transforms = {.by_id = true}});
  const DrawnGraph drawn = drawn_graph(graph.prepared, false, true);
  run_ranks(3, [&](Communicator& comm) {
    const Owners owners(graph.prepared.part_offsets(), 3);
    const std::vector<VertexId> rows = rows_by_degree(drawn, owners, comm, 40);
    ASSERT_EQ(rows.size(), 40U);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_FALSE(owners.owns(comm.rank(), rows[i]));
      EXPECT_GE(drawn.degree(rows[i == 0 ? 0 : i - 1]), drawn.degree(rows[i]));
    }
    double most = 0;
    for (VertexId row = 0; row < drawn.whole.rows; ++row)
      if (!owners.owns(comm.rank(), row)) most = std::max(most, drawn.degree(row));
    EXPECT_EQ(drawn.degree(rows[0]), most);
  });
}

TEST(CacheRows, ThoseReadMostOftenComeFirst) {
  const Owners owners(kParts, 3);
  RequestCounts counts(owners, 0);
  const std::vector<VertexId> one{0, 3, 80, 50}, two{80, 50, 1}, three{80, 33};
  for (const auto& rows : {one, two, three}) counts.add(rows);
  EXPECT_EQ(counts.rows(), (std::vector<VertexId>{80, 50, 33})) << "a rank's own rows need no cache";
}

/// What a run's first steps read most often is read most often later: a cache of these saves more than one of
/// as many others.
TEST(CacheRows, PresampledRowsAreHitMoreOftenThanOthers) {
  const SampledGraph graph;
  run_ranks(2, [&](Communicator& comm) {
    const Owners owners(graph.prepared.part_offsets(), 2);
    ThreadPool pool(1);
    Workspace workspace;
    Context ctx{Device::kCpu, &pool, &workspace};
    const auto structure =
        partitioned_structure(drawn_graph(graph.prepared, false, true), owners, comm, pool);
    Sampler sampler(*structure, {.fanout = {3, 3}});
    const auto trains = [&](VertexId id) { return graph.marks[std::size_t(id)] != 0; };
    Seeds seeds(graph.prepared.quality().training, training_rows(graph.prepared, owners, comm.rank(), trains),
                10, 1);
    std::vector<VertexId> order = rows_by_presampling(seeds, sampler, owners, comm.rank(), 20), rows;
    Matrix own(owners.rows(comm.rank()), 4);
    FeatureRows found;
    own.zero();
    Index hits[2];
    for (Index& of_order : hits) {
      FeatureStore store(ctx, owners, comm, std::as_const(own).view(),
                         {.cache_bytes = 2000, .policy = CachePolicy::kPresampled});
      store.fill_cache(order);
      Batch batch;
      for (std::int64_t step = 20; step < 40; ++step) {
        seeds.of_step(step, rows);
        sampler.sample(step, rows, batch);
        store.fetch(batch.rows(), found);
      }
      of_order = store.counts().hits;
      std::ranges::reverse(order);
    }
    EXPECT_GT(hits[0], hits[1] * 3 / 2);
  });
}

/// Values of the batch's rows, put together as a device does.
void expect_sources(Store& s, std::span<const VertexId> rows, const RowSources& sources,
                    const Matrix& given) {
  std::vector<VertexId> found;  // prepared rows that the device has
  const auto first = VertexId(s.owners.first_row(s.comm.rank()));
  for (const VertexId place : sources.held.span()) found.push_back(first + 2 * place);
  for (const VertexId own : sources.hosts.span()) found.push_back(first + own);
  ASSERT_EQ(Index(found.size()) + given.rows(), Index(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t at = sources.order.size() == 0 ? i : std::size_t(sources.order[Index(i)]);
    if (at < found.size()) {
      EXPECT_EQ(found[at], rows[i]);
    } else {
      for (Index c = 0; c < kCols; ++c)
        EXPECT_EQ(given.at(Index(at - found.size()), c), value(rows[i], c)) << "row " << rows[i];
    }
  }
}

TEST(FeatureStore, LeavesToADeviceWhatItHas) {
  for (const bool reads_hosts : {false, true})
    for (const bool holds : {false, true})
      for (const int ranks : {1, 3})
        run_ranks(ranks, [&](Communicator& comm) {
          // Every other row lies on the device.
          std::vector<VertexId> held;
          if (holds)
            for (VertexId own = 0; own < VertexId(Owners(kParts, ranks).rows(comm.rank())); ++own)
              held.push_back(own % 2 == 0 ? own / 2 : DevicePlaces::kElsewhere);
          FeatureStoreOptions options;
          options.device = {held, reads_hosts};
          Store s(comm, options);
          RowSources sources;
          FeatureRows given;
          for (int step = 0; step < 8; ++step) {
            const auto rows = rows_of(comm.rank(), step);
            s.store->fetch(rows, sources, given);
            expect_sources(s, rows, sources, given.dense);
            EXPECT_TRUE(holds || sources.held.size() == 0);
            EXPECT_TRUE(reads_hosts || sources.hosts.size() == 0);
          }
          const auto counts = s.store->counts();
          EXPECT_EQ(counts.held > 0, holds);
          EXPECT_GT(counts.own, counts.held);
          EXPECT_EQ(counts.fetched > 0, ranks > 1);
        });
}
}  // namespace
}  // namespace atl
