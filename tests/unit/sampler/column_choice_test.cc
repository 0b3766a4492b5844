// Chosen columns of other ranks' features: how many, which, and that an owner sends each rank its choice.
#include "sampler/column_choice.h"

#include <gmock/gmock.h>

#include "comm/ranks.h"
#include "sampler/feature_store.h"
#include "tensor/bfloat16.h"

namespace atl {
namespace {

TEST(ColumnChoice, RoundsUpAndFetchesAtLeastOne) {
  EXPECT_EQ(chosen_columns(0.85, 20), 17);
  EXPECT_EQ(chosen_columns(0.85, 602), 512);  // 511.7
  EXPECT_EQ(chosen_columns(0.07, 100), 7);
  EXPECT_EQ(chosen_columns(0.001, 100), 1);
  EXPECT_EQ(chosen_columns(1, 1433), 1433);
}

/// 2,000 steps: each column as often as any other, within 4 standard errors; the same on all ranks.
TEST(ColumnChoice, DrawsEachColumnAsOften) {
  constexpr int kSteps = 2000;
  ColumnChoice choice(3, 10, 4);
  std::vector<int> drawn(10);
  for (int step = 0; step < kSteps; ++step) {
    choice.draw(7, step);
    for (const VertexId column : choice.of(0)) ++drawn[std::size_t(column)];
    ASSERT_TRUE(std::ranges::equal(choice.of(0), choice.of(2)));
  }
  for (const int each : drawn) EXPECT_NEAR(each, 0.4 * kSteps, 4 * std::sqrt(0.4 * 0.6 * kSteps));
}

Real value(Index row, Index column) {
  return Real(0.1) * Real(row) + Real(column);
}

/// Rank r wants columns r and r + 2 of five; others are filled, own rows are whole.
TEST(ColumnChoice, OwnersSendWhatEachRankHasChosen) {
  const std::vector<Index> parts{0, 4, 4, 9};
  for (const bool rounded : {false, true})
    for (const bool filled : {false, true})
      run_ranks(3, [&](Communicator& comm) {
        const Owners owners(parts, 3);
        const Rank me = comm.rank();
        Matrix own(owners.rows(me), 5);
        for (Index r = 0; r < own.rows(); ++r)
          for (Index c = 0; c < 5; ++c) own.at(r, c) = value(owners.first_row(me) + r, c);
        ThreadPool pool(1);
        Workspace workspace;
        Context ctx{Device::kCpu, &pool, &workspace};
        FeatureStoreOptions options{.bfloat16 = rounded};
        if (filled) options.fill = {-1, -2, -3, -4, -5};
        FeatureStore store(ctx, owners, comm, own.view(), options);
        ColumnChoice choice(3, 5, 2);
        choice.exchange(comm, std::vector<VertexId>{me, me + 2});
        store.choose(&choice);
        const std::vector<VertexId> rows{8, 0, 5, 3};
        FeatureRows out;
        store.fetch(rows, out);
        for (std::size_t i = 0; i < rows.size(); ++i)
          for (Index c = 0; c < 5; ++c) {
            const Real sent =
                rounded ? Real(to_float(to_bfloat16(float(value(rows[i], c))))) : value(rows[i], c);
            const Real expected = owners.owns(me, rows[i]) ? value(rows[i], c)
                                  : c == me || c == me + 2 ? sent
                                  : filled                 ? Real(-1 - c)
                                                           : 0;
            EXPECT_EQ(out.dense.at(Index(i), c), expected) << "row " << rows[i] << ", column " << c;
          }
        const std::int64_t rows_sent = me == 1 ? 0 : 2 * 2;  // two rows of mine to two ranks
        EXPECT_EQ(comm.ledger().bytes(Link::kIntra, Traffic::kFeatures),
                  2 * 2 * 4                            // which columns
                      + 2 * 8 + 4 * (me == 1 ? 4 : 2)  // how many rows, and which
                      + rows_sent * 2 * (rounded ? 2 : Index(sizeof(Real))));
      });
}

}  // namespace
}  // namespace atl
