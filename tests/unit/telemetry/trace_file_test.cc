// The file of a trace whose rings are full.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/memory.h"
#include "comm/communicator.h"
#include "telemetry/run_folder.h"
#include "temporary_folder.h"

namespace atl {
namespace {

/// Puts twice as many spans as there is room for into each of a rank's lanes.
void fill(Trace& trace) {
  for (std::int64_t i = 0; i < 2 * std::int64_t(Trace::kSpans); ++i)
    for (int lane = 0; lane < kLanes; ++lane)
      trace.transferred(Lane(lane), {.begin = 1000 * i,
                                     .end = 1000 * i + 500,
                                     .bytes = 100,
                                     .label = {.epoch = 1, .layer = 2, .work = Work::kForward},
                                     .purpose = Traffic::kHalo});
}

/// Rank 0 ended for want of memory after training: as a tree of values, each rank's spans took 100 MiB.
TEST(TraceFile, OfFullRingsIsWrittenWithoutHoldingItsText) {
  TemporaryFolder folder;
  Communicator comm(std::move(make_local_group(1).front()));
  Trace trace;
  fill(trace);
  const std::int64_t before = process_memory().peak_bytes;
  write_trace(comm, trace, {ClockOffset{}}, 1, folder / "trace.json");
  EXPECT_LT(process_memory().peak_bytes - before, std::int64_t(64) << 20);
  const std::string text = read_bytes(folder / "trace.json");
  std::size_t spans = 0;
  for (std::size_t at = 0; (at = text.find(R"("ph":"X")", at)) != std::string::npos; ++at) ++spans;
  EXPECT_EQ(spans, std::size_t(kLanes) * (Trace::kSpans - 1))
      << "all but the oldest, which may be overwritten";
  EXPECT_TRUE(text.ends_with("}]}\n"));
  EXPECT_NE(text.find(R"("earlierSpansMissing":true)"), std::string::npos);
  EXPECT_NE(text.find(R"("ts":0.0,"dur":0.5)"), std::string::npos) << "times begin with the first span";
}

}  // namespace
}  // namespace atl
