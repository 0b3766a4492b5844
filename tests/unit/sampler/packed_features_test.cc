// Packed features in batches: each row equals its owner's, in whatever form it is sent and cached.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "comm/ranks.h"
#include "graph/csr.h"
#include "sampler/feature_store.h"
#include "sampler/rows_of_steps.h"
#include "tensor/bfloat16.h"

namespace atl {
namespace {

// Rows that ranks hold packed: of 70 columns a row has few values beside 0, some none.

constexpr Index kWide = 70;

/// Bits have one value a row.
Real packed_value(Index row, Index col, bool bits) {
  const Draws draws(6, Purpose::kGenerator);
  if (row % 7 == 3 || draws.uniform_at(std::uint64_t(row), std::uint64_t(col)) > 0.15) return 0;
  return Real(
      float(bits ? 0.25 + double(row) : 1 + draws.uniform_at(std::uint64_t(row), 1000 + std::uint64_t(col))));
}

struct PackedStore {
  PackedStore(Communicator& comm_, bool bits_, const FeatureStoreOptions& options)
      : comm(comm_), bits(bits_), owners(kParts, comm_.size()) {
    const Index count = owners.rows(comm.rank());
    csr.rows = count, csr.cols = kWide;
    words = BitMatrix(count, kWide);
    for (Index r = 0; r < count; ++r) {
      for (Index c = 0; c < kWide; ++c) {
        const Real each = packed_value(owners.first_row(comm.rank()) + r, c, bits);
        if (each == 0) continue;
        csr.columns.push_back(VertexId(c)), csr.weights.push_back(float(each));
        words.set(r, c);
      }
      csr.offsets.push_back(Index(csr.columns.size()));
      levels.push_back(Real(float(0.25 + double(owners.first_row(comm.rank()) + r))));
    }
    sparse_view = {csr.view(), {}};
    bit_view = {words.view(), {}, levels.data()};
    store.emplace(ctx, owners, comm, bits ? Rows(&bit_view) : Rows(&sparse_view), options);
  }

  Communicator& comm;
  bool bits;
  Owners owners;
  Csr csr;
  BitMatrix words;
  std::vector<Real> levels;
  SparseRows sparse_view;
  BitRows bit_view;
  ThreadPool pool{2};
  Workspace workspace;
  Context ctx{Device::kCpu, &pool, &workspace};
  std::optional<FeatureStore> store;
};

/// (rows, kWide) whatever form they are in; sparse rows have ascending columns and no 0.
Matrix as_dense(const FeatureRows& rows) {
  Matrix all(rows.count(), kWide);
  if (!rows.is_sparse()) {
    std::copy_n(rows.dense.data(), all.rows() * kWide, all.data());
    return all;
  }
  all.zero();
  const CsrView& csr = rows.rows().sparse->csr;
  for (Index r = 0; r < csr.rows; ++r)
    for (Index e = csr.offsets[r]; e < csr.offsets[r + 1]; ++e) {
      EXPECT_TRUE(e == csr.offsets[r] || csr.columns[e - 1] < csr.columns[e]);
      EXPECT_NE(csr.weights[e], 0);
      all.at(r, csr.columns[e]) = Real(csr.weights[e]);
    }
  return all;
}

/// The transposes hold each entry of the rows, and of the first of them, once.
void expect_transposes(FeatureRows& rows, Index destinations) {
  rows.transpose(destinations);
  const Matrix all = as_dense(rows);
  for (const auto& [view, count] :
       {std::pair{rows.rows().sparse, rows.count()}, {rows.self().sparse, destinations}}) {
    ASSERT_EQ(view->csr.rows, count);
    const CsrView& t = view->transpose;
    ASSERT_EQ(t.rows, kWide);
    Index entries = 0;
    for (Index c = 0; c < kWide; ++c)
      for (Index e = t.offsets[c]; e < t.offsets[c + 1]; ++e, ++entries) {
        ASSERT_LT(t.columns[e], count);
        EXPECT_EQ(Real(t.weights[e]), all.at(t.columns[e], c));
      }
    EXPECT_EQ(entries, view->csr.arcs());
  }
}

TEST(PackedFeatures, AreWhatTheirOwnersHaveInEveryFormWithAnyCache) {
  for (const bool bits : {false, true})
    for (const bool sparse : {false, true})
      for (const bool rounded : {false, true})
        for (const Index cache : {0, 3000, 1 << 20})
          for (const CachePolicy policy : {CachePolicy::kDegree, CachePolicy::kLru})
            run_ranks(3, [&](Communicator& comm) {
              PackedStore s(comm, bits,
                            {.bfloat16 = rounded,
                             .cache_bytes = cache,
                             .policy = policy,
                             .sparse = sparse,
                             .entries = 9});
              std::vector<VertexId> others;
              for (VertexId row = 0; row < kRows; ++row)
                if (!s.owners.owns(comm.rank(), row)) others.push_back(row);
              if (policy != CachePolicy::kLru) s.store->fill_cache(others);
              FeatureRows found;
              for (int step = 0; step < 12; ++step) {
                const auto rows = rows_of(comm.rank(), step);
                s.store->fetch(rows, found);
                ASSERT_EQ(found.is_sparse(), sparse);
                ASSERT_EQ(found.count(), Index(rows.size()));
                const Matrix all = as_dense(found);
                for (std::size_t i = 0; i < rows.size(); ++i)
                  for (Index c = 0; c < kWide; ++c) {
                    Real expected = packed_value(rows[i], c, bits);
                    if (rounded && !s.owners.owns(comm.rank(), rows[i]))
                      expected = Real(to_float(to_bfloat16(float(expected))));
                    ASSERT_EQ(all.at(Index(i), c), expected) << "row " << rows[i] << ", column " << c;
                  }
                if (sparse) expect_transposes(found, found.count() / 3);
              }
              EXPECT_EQ(s.store->counts().hits > 0, cache > 0);
            });
}

TEST(PackedFeatures, ChosenColumnsCrossAloneAndOthersAreFilledIn) {
  for (const bool bits : {false, true})
    for (const bool filled : {false, true})
      for (const bool sparse : {false, true}) {
        if (filled && sparse) continue;
        run_ranks(3, [&](Communicator& comm) {
          FeatureStoreOptions options{.sparse = sparse, .entries = 9};
          for (Index c = 0; filled && c < kWide; ++c) options.fill.push_back(Real(-1 - c));
          PackedStore s(comm, bits, options);
          const Rank me = comm.rank();
          ColumnChoice choice(3, kWide, 30);
          std::vector<VertexId> mine;
          for (VertexId i = 0; i < 30; ++i) mine.push_back(2 * i + VertexId(me));
          choice.exchange(comm, mine);
          s.store->choose(&choice);
          const auto rows = rows_of(me, 1);
          FeatureRows found;
          s.store->fetch(rows, found);
          const Matrix all = as_dense(found);
          for (std::size_t i = 0; i < rows.size(); ++i)
            for (Index c = 0; c < kWide; ++c) {
              const bool chosen = std::ranges::binary_search(mine, VertexId(c));
              const Real expected = s.owners.owns(me, rows[i]) || chosen ? packed_value(rows[i], c, bits)
                                    : filled                             ? Real(-1 - c)
                                                                         : 0;
              ASSERT_EQ(all.at(Index(i), c), expected) << "row " << rows[i] << ", column " << c;
            }
        });
      }
}

TEST(PackedFeatures, BytesAreThoseOfTheirEntries) {
  for (const bool bits : {false, true})
    for (const bool rounded : {false, true})
      run_ranks(2, [&](Communicator& comm) {
        PackedStore s(comm, bits, {.bfloat16 = rounded});
        std::vector<VertexId> rows(std::size_t{kRows});
        std::iota(rows.begin(), rows.end(), 0);
        if (comm.rank() == 1) rows.clear();
        FeatureRows found;
        s.store->fetch(rows, found);
        const Index asks = comm.rank() == 0 ? s.owners.rows(1) : 0,
                    answers = comm.rank() == 1 ? s.owners.rows(1) : 0;
        const Index entries = comm.rank() == 1 ? s.csr.arcs() : 0;
        const Index bit_row =
            12 + Index(rounded ? 2 : sizeof(Real));  // three words, and what a one stands for
        const Index sent = bits ? answers * bit_row : answers * 4 + entries * (rounded ? 6 : 8);
        EXPECT_EQ(comm.ledger().bytes(Link::kIntra, Traffic::kFeatures), 8 + asks * 4 + sent);
      });
}

TEST(PackedFeatures, AfterTheLargestBatchNothingGrows) {
  for (const bool bits : {false, true})
    run_ranks(3, [&](Communicator& comm) {
      PackedStore s(comm, bits, {.sparse = true, .entries = 9});
      FeatureRows found;
      Index before = 0;
      for (int step = 0; step < 400; ++step) {
        s.store->fetch(rows_of(comm.rank(), step % 40), found);
        found.transpose(found.count() / 2);
        if (step == 40) before = s.store->reallocations() + found.reallocations();
      }
      EXPECT_EQ(s.store->reallocations() + found.reallocations(), before);
    });
}

}  // namespace
}  // namespace atl
