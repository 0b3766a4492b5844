// The contents of a rank's trace, and the comparison of ranks' clocks.
#include "comm/trace.h"

#include <gmock/gmock.h>

#include <thread>

#include "comm/ranks.h"
#include "comm/slow_transport.h"

namespace atl {
namespace {

using std::chrono::milliseconds;

Span transfer(std::int64_t epoch, std::int64_t begin) {
  return {.begin = begin, .end = begin + 1, .label = {epoch, 2, Work::kForward}, .purpose = Traffic::kHalo};
}

TEST(Trace, HoldsTheLatestSpansInAsMuchMemoryAsEver) {
  Trace trace(8);
  for (std::int64_t i = 0; i < 20; ++i) trace.transferred(Lane::kBulk, transfer(i / 2, i));
  const std::vector<Span> spans = trace.spans(Stream::kBulkLane, 0);
  ASSERT_EQ(spans.size(), 7U);
  EXPECT_EQ(spans.front().begin, 13);
  EXPECT_EQ(spans.back().begin, 19);
  EXPECT_TRUE(trace.cut(0));
  EXPECT_FALSE(trace.cut(8));
  EXPECT_EQ(trace.spans(Stream::kBulkLane, 9).size(), 2U);
  EXPECT_TRUE(trace.spans(Stream::kSmallLane, 0).empty());
}

TEST(Trace, AWaitPartsTheWorkThatItInterrupts) {
  Trace trace;
  trace.begin_epoch(4);
  trace.enter(Work::kForward, 1);
  trace.begin_wait();
  trace.end_wait(Traffic::kHalo);
  trace.leave();
  const std::vector<Span> spans = trace.spans(Stream::kCompute, 4);
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_THAT(std::vector({spans[0].computes, spans[1].computes, spans[2].computes}),
              testing::ElementsAre(true, false, true));
  for (const Span& span : spans) {
    EXPECT_EQ(span.label.epoch, 4);
    EXPECT_EQ(span.label.layer, 1);
    EXPECT_LE(span.begin, span.end);
  }
  EXPECT_EQ(spans[0].end, spans[1].begin);
  EXPECT_EQ(spans[1].end, spans[2].begin);
  EXPECT_EQ(spans[1].purpose, Traffic::kHalo);
}

/// Two ranks swap 3 × 4 values over a link that takes 5 ms; rank 0 computes for 2 ms and waits for the rest.
TEST(Trace, ATransferKeepsTheWorkThatStartedIt) {
  std::vector<Trace> traces(2);
  std::vector<std::thread> ranks;
  auto transports = make_slow_group(2, milliseconds(200));
  for (Rank r = 0; r < 2; ++r)
    ranks.emplace_back([&, r] {
      Trace& trace = traces[std::size_t(r)];
      Communicator comm(std::move(transports[std::size_t(r)]), {.trace = &trace});
      Matrix mine(3, 4), theirs(3, 4);
      mine.zero();
      trace.begin_epoch(1);
      trace.enter(Work::kForward, 2);
      const RowsTo to{1 - r, mine};
      const RowsFrom from{1 - r, theirs};
      Event event = comm.exchange(Lane::kBulk, Traffic::kHalo, std::span(&to, 1), std::span(&from, 1));
      trace.enter(Work::kForward, 3);
      std::this_thread::sleep_for(milliseconds(2));
      event.wait();
      trace.leave();
      event.wait();  // nothing is waited for any more
    });
  for (auto& rank : ranks) rank.join();
  for (const Trace& trace : traces) {
    const std::vector<Span> sent = trace.spans(Stream::kBulkLane, 1),
                            computed = trace.spans(Stream::kCompute, 1);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].label.layer, 2);
    EXPECT_EQ(sent[0].bytes, Index(12 * sizeof(Real)));
    EXPECT_GE(sent[0].end - sent[0].begin, 200'000'000);
    ASSERT_EQ(computed.size(), 4U) << "layer 2, layer 3, wait, layer 3";
    EXPECT_FALSE(computed[2].computes);
    EXPECT_GE(computed[2].end, sent[0].end);
  }
}

TEST(Trace, NobodyAskedForOneNobodyKeepsOne) {
  run_ranks(2, [](Communicator& comm) { EXPECT_EQ(comm.trace(), nullptr); });
}

TEST(ClockOffset, OnOneMachineItIsNoneWithinItsError) {
  run_ranks(3, [](Communicator& comm) {
    const std::vector<ClockOffset> offsets = measure_clock_offsets(comm);
    ASSERT_EQ(offsets.size(), 3U);
    EXPECT_EQ(offsets[0].ahead, 0);
    EXPECT_EQ(offsets[0].error, 0);
    for (Rank r = 1; r < 3; ++r) {
      const ClockOffset& offset = offsets[std::size_t(r)];
      EXPECT_GT(offset.error, 0);
      EXPECT_LE(std::abs(offset.ahead), offset.error) << "one clock, read on both sides of a message";
    }
  });
}

}  // namespace
}  // namespace atl
