#include "plan/memory.h"

#include <gtest/gtest.h>

#include "train/small_job.h"

namespace atl {
namespace {

TEST(MappedBytes, OneRankTouchesEveryFileThatItReads) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 400});
  const Job job = small_job({});
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, partition_options(job, 1), graph_transforms(job),
                                            training_marks(dataset, job));
  Index files = 0;
  for (const char* name : {"features.npy", "labels.npy", "split_default.npy"}) {
    files += Index(std::filesystem::file_size(dataset.folder() / name));
  }
  for (const char* name : {"ids.npy", "offsets.npy", "columns.npy", "halo.npy"}) {
    files += Index(std::filesystem::file_size(prepared.folder() / name));
  }
  EXPECT_EQ(mapped_bytes(job, dataset, prepared, 0, true), files);
}

TEST(MappedBytes, ARankOfManyTouchesLess) {
  TemporaryFolder folder;
  // 1 MiB of features: far more than the 64 KiB that an access brings in.
  write_small_data(folder / "small", {.vertices = 1024, .features = 256, .arc_share = 0.001});
  const Job job = small_job({"placement.partitioner.kind=range"});
  const Dataset dataset = Dataset::open(folder / "small");
  const auto mapped_of = [&](int ranks) {
    const auto prepared = PreparedGraph::make(dataset, partition_options(job, ranks), graph_transforms(job),
                                              training_marks(dataset, job));
    return mapped_bytes(job, dataset, prepared, 0, true);
  };
  EXPECT_LT(mapped_of(8), mapped_of(1));
}

/// Bytes times rows are more than 64 bits hold: 120 million vertices with 768 features.
TEST(RowBegin, IsExactInFilesOfAnySize) {
  __extension__ using Whole = __int128;
  const Index rows = 121'751'666, header = 128;
  for (const Index bytes : {rows * 768 * 4 + header, rows * 4 + header, rows - 1, Index(0)})
    for (const Index r : {Index(0), Index(1), rows / 3, rows - 1, rows})
      EXPECT_EQ(row_begin(bytes, rows, r), Index(Whole(bytes) * r / rows)) << "row " << r << " of " << bytes;
}

}  // namespace
}  // namespace atl
