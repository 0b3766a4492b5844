#include "telemetry/report/report.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "telemetry/record_json.h"
#include "telemetry/report/parts.h"
#include "telemetry/sample_run.h"
#include "temporary_folder.h"

namespace atl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// 10,000 epochs on 64 ranks with 100 classes: the largest run that the page must stay readable for.
RunRecord large_run() {
  RunRecord run = sample_run(10'000);
  run.setting.ranks = 64;
  run.setting.hosts.assign(64, "n1");
  run.peak_memory_bytes.assign(64, 1 << 30);
  run.phases_by_rank.assign(64, run.phases_by_rank[0]);
  run.bytes_by_pair.assign(64 * 64, 123'456'789);
  run.confusion.classes = 100;
  run.confusion.counts.assign(100 * 100, 7);
  return run;
}

/// What stands between each `begin` and the next `end`, which are left out.
std::vector<std::string> pieces_between(const std::string& text, const std::string& begin,
                                        const std::string& end) {
  std::vector<std::string> pieces;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    pieces.push_back(text.substr(at, text.find(end, at) - at));
  }
  return pieces;
}

/// The page without its scripts and style sheet.
std::string markup_of(std::string html) {
  for (const std::string name : {"script", "style"}) {
    const std::string close = "</" + name + ">";
    for (std::size_t at; (at = html.find("<" + name)) != std::string::npos;)
      html.erase(at, html.find(close, at) + close.size() - at);
  }
  return html;
}

/// Every element that is opened is closed, in order, as browsers need it for SVG and sections.
void expect_balanced(const std::string& html) {
  std::vector<std::string> open;
  for (const std::string& tag : pieces_between(markup_of(html), "<", ">")) {
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (name == "meta" || name == "!doctype" || tag.back() == '/') continue;
    if (name[0] != '/') {
      open.push_back(name);
    } else {
      ASSERT_FALSE(open.empty()) << tag;
      ASSERT_EQ("/" + open.back(), name);
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(Report, ShowsWhatAReaderLooksFor) {
  const std::string html = report_html(sample_run());
  for (const char* text :
       {"cora-gcn", "81.5 %", "75.0 %", "250 ms", "120 MiB", "Time by rank and phase",
        "compute <b>75.0 %</b>", "Traffic between ranks", "between servers", "Confusion matrix",
        "class 2 predicted as class 1", "5 of 75", "0123456789abcdef", "4.1.4", "2 cores, 24 GiB"})
    EXPECT_THAT(html, HasSubstr(text));
  expect_balanced(html);
}

TEST(Report, DrawsHowFarLateRowsWereOff) {
  RunRecord run = sample_run();
  EXPECT_THAT(report_html(run), Not(HasSubstr("Error of stale rows")));
  for (std::size_t e = 1; e < run.epochs.size(); ++e)
    run.epochs[e].staleness = {{1, 0.5 / double(e), 0.7}, {2, 0.2, 0.125}};
  const std::string html = report_html(run);
  for (const char* text :
       {"Error of stale rows and gradients", "layer 1, rows", "layer 2, gradients", "12.5"})
    EXPECT_THAT(html, HasSubstr(text));
  expect_balanced(html);
  for (EpochRecord& epoch : run.epochs) epoch = parse_epoch_line(epoch_line(epoch));
  EXPECT_EQ(report_html(run), html) << "it comes from metrics.jsonl again";
}

TEST(Report, BatchesTellHowOftenTheCacheHadARow) {
  RunRecord run = sample_run();
  EXPECT_THAT(report_html(run), Not(HasSubstr("Features from cache")));
  for (EpochRecord& epoch : run.epochs) epoch.own.batches = {1000, 30, 10, 0, 0.5};
  const std::string html = report_html(run);
  EXPECT_THAT(html, HasSubstr("<span>Features from cache</span><b>75.0 %</b>"));
  for (EpochRecord& epoch : run.epochs) epoch = parse_epoch_line(epoch_line(epoch));
  EXPECT_EQ(report_html(run), html) << "it comes from metrics.jsonl again";
}

TEST(Report, TheMetricIsDrawnByTimeToo) {
  const std::string html = report_html(sample_run());
  EXPECT_THAT(html, HasSubstr("Accuracy by time of training"));
  EXPECT_THAT(html, HasSubstr("text-anchor=end>time</text>"));
}

TEST(Report, NeedsNoNetworkAndLetsNothingIn) {
  RunRecord run = sample_run();
  run.setting.name = "<script>alert('x')</script>";
  const std::string html = report_html(run);
  EXPECT_THAT(html, AllOf(Not(HasSubstr("http")), Not(HasSubstr("src=")), Not(HasSubstr("url(")),
                          Not(HasSubstr("@import"))));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, HasSubstr("# &lt;&amp;&gt;"));
}

TEST(Report, DataForThePointerIsJson) {
  const std::string html = report_html(sample_run());
  const auto blocks = pieces_between(html, "<script type=\"application/json\">", "</script>");
  EXPECT_EQ(blocks.size(), 7u);  // five charts, two matrices
  for (const std::string& block : blocks) EXPECT_TRUE(nlohmann::json::accept(block)) << block;
}

TEST(Report, ALargeRunStaysSmall) {
  const std::string html = report_html(large_run());
  EXPECT_LT(html.size(), 2'000'000u);
  EXPECT_THAT(html, HasSubstr("rank 62"));
}

TEST(Report, UnfinishedAndBareRunsHaveAPage) {
  RunRecord bare;
  bare.setting.name = "x";
  EXPECT_THAT(report_html(bare), HasSubstr("not finished"));
  expect_balanced(report_html(bare));
  RunRecord one = sample_run(1);
  one.test.reset();
  one.confusion = {};
  one.bytes_by_pair.clear();
  one.epochs[0].loss = NAN;
  EXPECT_THAT(report_html(one), AllOf(Not(HasSubstr("nan")), Not(HasSubstr("Confusion matrix"))));
  expect_balanced(report_html(one));
}

TEST(Report, ThinningKeepsEverySpike) {
  Chart chart;
  Series series{"s", 1, {}};
  for (Index epoch = 1; epoch <= 10'000; ++epoch) {
    chart.epochs.push_back(epoch);
    series.y.push_back(epoch == 7'777 ? 100 : std::sin(double(epoch)));
  }
  chart.series = {series};
  const std::vector<std::size_t> drawn = thin(chart, 100);
  EXPECT_LE(drawn.size(), 202u);
  EXPECT_EQ(drawn.front(), 0u);
  EXPECT_EQ(drawn.back(), 9'999u);
  EXPECT_THAT(drawn, testing::Contains(7'776u));
}

TEST(Report, TicksAreRound) {
  EXPECT_THAT(axis_ticks(0, 1, 5), ElementsAre(0, testing::DoubleEq(0.2), testing::DoubleEq(0.4),
                                               testing::DoubleNear(0.6, 1e-12), testing::DoubleEq(0.8), 1));
  EXPECT_THAT(axis_ticks(3, 197, 4), ElementsAre(50, 100, 150));
  EXPECT_THAT(axis_ticks(5, 5, 4), ElementsAre(5));
  EXPECT_EQ(format_tick(NumberFormat::kSeconds, 0.006), "6 ms");
  EXPECT_EQ(format_tick(NumberFormat::kSeconds, 10), "10 s");
  EXPECT_EQ(format_tick(NumberFormat::kBytes, 1536), "1.5 KiB");
  EXPECT_EQ(format_tick(NumberFormat::kPlain, 1e20), "1e+20");
}

TEST(Report, LargeMatricesAreSummedInBlocks) {
  std::vector<std::int64_t> values(25);
  for (int i = 0; i < 25; ++i) values[std::size_t(i)] = i;
  int size = 5;
  EXPECT_EQ(coarsen(values, size, 3), 2);
  EXPECT_EQ(size, 3);
  EXPECT_THAT(values, ElementsAre(0 + 1 + 5 + 6, 2 + 3 + 7 + 8, 4 + 9, 10 + 11 + 15 + 16, 12 + 13 + 17 + 18,
                                  14 + 19, 20 + 21, 22 + 23, 24));
}

TEST(Report, IsWrittenWhole) {
  TemporaryFolder folder;
  write_report(sample_run(), folder / "report.html");
  EXPECT_EQ(read_bytes(folder / "report.html"), report_html(sample_run()));
}

/// Three ranks on two servers: two bars, one of two pieces.
TEST(Report, ShowsMemoryByServer) {
  RunRecord run = sample_run();
  run.setting.ranks = 3;
  run.setting.hosts = {"a", "b", "a"};
  run.peak_memory_bytes = {1 << 20, 2 << 20, 3 << 20};
  const std::string html = report_html(run);
  for (const char* text :
       {"Memory by server", "server 0: its rank 0 1.00 MiB", "server 0: its rank 1 3.00 MiB",
        "server 1: its rank 0 2.00 MiB", ">4.00 MiB</text>"})
    EXPECT_THAT(html, HasSubstr(text));
  expect_balanced(html);
  run.peak_memory_bytes.clear();
  EXPECT_THAT(report_html(run), Not(HasSubstr("Memory by server")));
}

/// Of a pipeline alone: a bar for each stage, and the bubbles' share; also after the record was written and read.
TEST(Report, ShowsChunksByStage) {
  EXPECT_THAT(report_html(sample_run()), Not(HasSubstr("Chunks by stage")));
  RunRecord run = sample_run();
  run.pipeline = {
      4, 0.25, {3, 2}, {{{1, 0, 1, 4, 5}, {0, 1, 2, 3, 4}}, {{1, 1, 2, 3, 4}, {0, 2, 2.5, 2.5, 3}}}};
  const std::string html = report_html(parse_run_document(run_document(run)));
  for (const char* text : {"Chunks by stage", "bubbles <b>25.0 %</b>", "convolutions by stage <b>3, 2</b>",
                           "stage 0, chunk 1: forward 1.00 s", "stage 1, chunk 0: backward 500 ms"})
    EXPECT_THAT(html, HasSubstr(text));
  expect_balanced(html);
}

/// Of a strategy that explains alone; also after the record was written and read.
TEST(Report, ShowsWhatMattersOfOtherRanks) {
  EXPECT_THAT(report_html(sample_run()), Not(HasSubstr("What matters of other ranks")));
  RunRecord run = sample_run();
  run.explained.resize(2);
  run.explained[1] = {.others = 1200,
                      .features = 20,
                      .chosen = 17,
                      .vertices = {{4711, 0.75}, {12, 0.5}},
                      .columns = {{3, 0.875}},
                      .least_vertex = 0.125,
                      .middle_vertex = 0.25,
                      .epochs = 50,
                      .first_loss = 2.5,
                      .loss = 1.25,
                      .seconds = 3,
                      .explanations = 2};
  const std::string html = report_html(parse_run_document(run_document(run)));
  for (const char* text : {"What matters of other ranks", "rank 1",
                           "1,200 vertices: 4711 <small>0.750</small>, 12", "median 0.250, least 0.125",
                           "17 of 20 features: 3 <small>0.875", "2 × 1.50 s, 50 epochs", "loss 2.5 → 1.25"})
    EXPECT_THAT(html, HasSubstr(text));
  EXPECT_THAT(html, HasSubstr("no masks applied")) << "on rank 0";
  expect_balanced(html);
}

TEST(Report, SaysOfWhichEpochsBytesAreTheMean) {
  RunRecord run = sample_run();
  for (EpochRecord& epoch : run.epochs) epoch.bytes_intra = 0, epoch.bytes_inter = 0;
  run.epochs.front().bytes_inter = Index(run.epochs.size()) * 2048;
  EXPECT_THAT(report_html(run), AllOf(HasSubstr("Sent per epoch"), HasSubstr("2.00 KiB"),
                                      HasSubstr("mean of " + std::to_string(run.epochs.size()))));
}

}  // namespace
}  // namespace atl
