#include "telemetry/report/report.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/json.h"
#include "telemetry/report_page.h"
#include "telemetry/run_folder.h"
#include "telemetry/sample_run.h"
#include "temporary_folder.h"

namespace atl {
namespace {

using nlohmann::json;
using testing::AllOf;
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

TEST(Report, ShowsWhatAReaderLooksFor) {
  const std::string html = report_html(sample_run());
  for (const char* text :
       {"cora-gcn", "81.5 %", "75.0 %", "250 ms", "120 MiB", "Time by rank and phase",
        "<td>compute</td><td>75.0 %</td><td>750 ms</td><td>800 ms · rank 0</td>", "Traffic between ranks",
        "between servers", "<td>busiest pair: rank 0 to rank 1</td><td>2.93 KiB</td><td>75.0 %</td>",
        "<td>halo</td><td>inter</td><td>7.03 KiB</td><td>90.0 %</td>", "Confusion matrix",
        "class 2 predicted as class 1", "5 of 75", "0123456789abcdef", "4.1.4", "2 cores, 24 GiB",
        "<td>first: 1</td><td>2</td><td>–</td><td>50.0 %</td><td>–</td>", "<td>best: 4</td><td>0.5</td>"})
    EXPECT_THAT(html, HasSubstr(text));
  expect_balanced(html);
}

/// Ranks count from their start: a resumed run's report gave its last seconds and bytes for the whole run's.
TEST(Report, SaysSinceWhenRanksCount) {
  const std::string html = report_html(sample_run());
  for (const char* text :
       {"Seconds since this start by rank and phase", "Bytes sent by pair of ranks since this start",
        "What training sent since this start"})
    EXPECT_THAT(html, HasSubstr(text));
}

TEST(Report, ItsScriptReadsTheRunsOwnJson) {
  RunRecord run = sample_run();
  run.epochs.back().epoch = 12'345'678;
  const json data = data_of(report_html(run));
  EXPECT_EQ(data["setting"]["name"], "cora-gcn");
  EXPECT_EQ(data["metricTitle"], "accuracy");
  EXPECT_EQ(data["epochs"]["epoch"], json({1, 2, 3, 12'345'678}));
  EXPECT_EQ(data["epochs"]["loss"], json({2, 1, 0.666667, 0.5}));
  EXPECT_EQ(data["epochs"]["validation"], json({nullptr, 0.5, nullptr, 0.75}));
  EXPECT_FALSE(data["epochs"].contains("test")) << "no epoch has one";
  EXPECT_EQ(data["epochs"]["phases"]["communication"], json({0.05, 0.05, 0.05, 0.05}));
  EXPECT_EQ(data["bytesByPair"], parse_json(R"({"size": 2, "step": 1, "values": [0, 3000, 1000, 0]})"));
  EXPECT_EQ(data["confusion"]["size"], 3);
}

TEST(Report, WhatLateRowsWereOffStandsAtTheirEpoch) {
  RunRecord run = sample_run();
  EXPECT_TRUE(data_of(report_html(run))["epochs"]["staleness"].empty());
  for (std::size_t e = 1; e < run.epochs.size(); ++e)
    run.epochs[e].staleness = {{1, 0.5 / double(e), 0.7}, {2, 0.2, 0.125}};
  const std::string html = report_html(run);
  const json staleness = data_of(html)["epochs"]["staleness"];
  EXPECT_EQ(staleness["layer 1, rows"], json({0.5, 0.25, 0.166667, nullptr}));
  EXPECT_EQ(staleness["layer 2, gradients"], json({0.125, 0.125, 0.125, nullptr}));
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

TEST(Report, NeedsNoNetwork) {
  EXPECT_THAT(report_html(sample_run()), AllOf(Not(HasSubstr("://")), Not(HasSubstr("src=")),
                                               Not(HasSubstr("url(")), Not(HasSubstr("@import"))));
}

/// Whatever a string of the run holds, it stays a string: in the markup, and in the JSON, whose element it
/// can't end.
TEST(Report, NoTextOfTheRunBecomesMarkup) {
  const std::string evil = "</script><script>x()</script><!--head--><!-- & \"'\x01\n\xff\xe2\x80\xa8";
  RunRecord run = sample_run();
  RunSetting& s = run.setting;
  const std::string plain = report_html(run);
  for (std::string* text : {&s.name, &s.job_yaml, &s.dataset, &s.dataset_checksum, &s.model, &s.strategy,
                            &s.metric, &s.partitioner, &s.machine, &s.output, &run.outcome})
    *text = evil;
  s.hosts = {evil, evil + "2"};
  s.versions = {{evil, evil}};
  for (auto& phases : run.phases_by_rank) phases[0].name = evil;
  for (EpochRecord& epoch : run.epochs) epoch.own.phases[0].name = evil;
  run.training_traffic = {{evil, evil, 100}};
  const std::string html = report_html(run);
  for (const char* tag : {"<script", "</script", "<!--"})
    EXPECT_EQ(pieces_between(html, tag, ">").size(), pieces_between(plain, tag, ">").size()) << tag;
  EXPECT_THAT(html, HasSubstr("&lt;/script&gt;&lt;script&gt;x()&lt;/script&gt;&lt;!--head--&gt;&lt;!-- &amp; "
                              "&quot;&#39;\uFFFD\n"));
  expect_balanced(html);
  const std::string kept =
      evil.substr(0, evil.find('\xff')) + "\uFFFD\u2028";  // what JSON has for a wrong byte
  const json data = data_of(html);
  for (const json& text :
       {data["setting"]["name"], data["outcome"], data["setting"]["hosts"][0],
        data["setting"]["versions"].items().begin().value(), data["trainingTraffic"][0]["link"]})
    EXPECT_EQ(text, kept);
  EXPECT_TRUE(data["epochs"]["phases"].contains(kept));
}

TEST(Report, WhatIsNoNumberIsNeitherDrawnNorPrinted) {
  RunRecord run = sample_run();
  run.epochs[0].loss = NAN;
  run.epochs[1].loss = HUGE_VAL;
  run.epochs[2].validation = -HUGE_VAL;
  run.epochs[3].loss = NAN;
  run.phases_by_rank[0][0].seconds = NAN;
  const std::string html = report_html(run);
  EXPECT_EQ(data_of(html)["epochs"]["loss"], json({nullptr, nullptr, 0.666667, nullptr}));
  EXPECT_EQ(data_of(html)["phasesByRank"][0]["compute"], nullptr);
  EXPECT_THAT(html, HasSubstr("<td>last: 4</td><td>–</td><td>1.5</td>"));
  EXPECT_THAT(markup_of(html), AllOf(Not(HasSubstr(">nan")), Not(HasSubstr(">inf"))));
}

TEST(Report, ALargeRunStaysSmall) {
  const std::string html = report_html(large_run());
  EXPECT_LT(html.size(), 2'000'000u);
  EXPECT_THAT(html, HasSubstr("largest of 64 ranks"));
}

TEST(Report, LargeMatricesAreSummedInBlocks) {
  RunRecord run = sample_run();
  run.confusion.classes = 101;
  run.confusion.counts.assign(101 * 101, 1);
  const json confusion = data_of(report_html(run))["confusion"];
  EXPECT_EQ(confusion["size"], 51);
  EXPECT_EQ(confusion["step"], 2);
  ASSERT_EQ(confusion["values"].size(), 51u * 51u);
  EXPECT_EQ(confusion["values"][0], 4);
  EXPECT_EQ(confusion["values"][50], 2) << "the last column's blocks have one column";
  EXPECT_EQ(confusion["values"].back(), 1);
}

TEST(Report, IsWrittenWhole) {
  TemporaryFolder folder;
  write_report(sample_run(), folder / "report.html");
  EXPECT_EQ(read_bytes(folder / "report.html"), report_html(sample_run()));
}

}  // namespace
}  // namespace atl
