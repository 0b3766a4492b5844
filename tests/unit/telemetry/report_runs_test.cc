// Reports of runs that lack something, and of runs with parts that others don't have: a pipeline,
// explanations.
#include <gmock/gmock.h>

#include "base/json.h"
#include "telemetry/report/report.h"
#include "telemetry/report_page.h"
#include "telemetry/run_folder.h"
#include "telemetry/sample_run.h"

namespace atl {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ReportOf, ABareRunHasAPage) {
  RunRecord bare;
  bare.setting.name = "x";
  const std::string html = report_html(bare);
  EXPECT_THAT(html, AllOf(HasSubstr("not finished"), HasSubstr("never evaluated"), Not(HasSubstr("<figure")),
                          Not(HasSubstr("<h2>Epochs"))));
  expect_balanced(html);
  EXPECT_FALSE(data_of(html)["epochs"].contains("epoch"));
}

TEST(ReportOf, AStoppedRunOfOneEpochSaysSo) {
  RunRecord run = sample_run(1);
  run.outcome = "interrupted";
  run.best_epoch = 0;
  run.validation.reset(), run.test.reset();
  run.epochs[0].validation.reset(), run.epochs[0].validation_loss.reset();
  run.confusion = {};
  const std::string html = report_html(run);
  EXPECT_THAT(html,
              AllOf(HasSubstr("<span class='outcome partial'>interrupted</span>"), HasSubstr("first: 1"),
                    Not(HasSubstr("best: ")), Not(HasSubstr("Confusion matrix"))));
  EXPECT_FALSE(data_of(html)["epochs"].contains("validation"));
  expect_balanced(html);
}

TEST(ReportOf, OneRankSendsNothing) {
  RunRecord run = sample_run();
  run.setting.ranks = 1, run.setting.hosts.resize(1);
  run.peak_memory_bytes.resize(1), run.phases_by_rank.resize(1);
  run.bytes_by_pair = {0}, run.training_traffic.clear();
  const std::string html = report_html(run);
  EXPECT_THAT(html,
              AllOf(HasSubstr("1 rank on 1 server"), HasSubstr("resident"), Not(HasSubstr("Sent per epoch")),
                    Not(HasSubstr("Traffic between ranks")), Not(HasSubstr("Bytes by purpose"))));
}

TEST(ReportOf, LinksAndSeveralLabelsHaveNoConfusionMatrix) {
  RunRecord run = sample_run();
  run.setting.metric = "f1Micro";
  run.confusion = {};
  EXPECT_THAT(report_html(run), AllOf(HasSubstr("Test F1 (micro)"), Not(HasSubstr("Confusion matrix"))));
  run.links =
      LinkMetrics{.roc_auc = 0.931, .average_precision = 0.928, .mrr = 0.12345, .hits = {0.1, 0.2, 0.3, 0.4}};
  const std::string html = report_html(run);
  for (const char* row : {"<td>ROC AUC</td><td>93.1 %</td>", "<td>average precision</td><td>92.8 %</td>",
                          "<td>MRR</td><td>0.1235</td>", "<td>hits@20</td><td>20.0 %</td>"})
    EXPECT_THAT(html, HasSubstr(row));
  EXPECT_EQ(data_of(html)["metricTitle"], "F1 (micro)");
}

TEST(ReportOf, AModelWithoutMistakesHasItsMatrix) {
  RunRecord run = sample_run();
  run.confusion = {2, {5, 0, 0, 7}};
  EXPECT_THAT(report_html(run), HasSubstr("<figure data-picture=confusion></figure><div>no mistakes</div>"));
}

/// Three ranks on two servers, the first of which has two.
TEST(ReportOf, ShowsMemoryByServer) {
  RunRecord run = sample_run();
  run.setting.ranks = 3;
  run.setting.hosts = {"a", "b", "a"};
  run.peak_memory_bytes = {1 << 20, 2 << 20, 3 << 20};
  const std::string html = report_html(run);
  for (const char* text :
       {"Memory by server", "<td>server 0: a</td><td>2</td><td>4.00 MiB</td><td>3.00 MiB</td>",
        "<td>server 1: b</td><td>1</td><td>2.00 MiB</td><td>2.00 MiB</td>"})
    EXPECT_THAT(html, HasSubstr(text));
  expect_balanced(html);
  run.peak_memory_bytes.clear();
  EXPECT_THAT(report_html(run), Not(HasSubstr("Memory by server")));
}

/// Of a pipeline alone: each stage's chunks, and the bubbles' share; also after the record was written and
/// read.
TEST(ReportOf, ShowsChunksByStage) {
  EXPECT_THAT(report_html(sample_run()), Not(HasSubstr("Chunks by stage")));
  RunRecord run = sample_run();
  run.pipeline = {
      4, 0.25, {3, 2}, {{{1, 0, 1, 4, 5}, {0, 1, 2, 3, 4}}, {{1, 1, 2, 3, 4}, {0, 2, 2.5, 2.5, 3}}}};
  const std::string html = report_html(parse_run_document(run_document(run)));
  for (const char* text : {"Chunks by stage", "bubbles <b>25.0 %</b>", "convolutions by stage <b>3, 2</b>"})
    EXPECT_THAT(html, HasSubstr(text));
  EXPECT_EQ(data_of(html)["pipeline"]["stages"][0][0], json({1, 0, 1, 4, 5}));
  expect_balanced(html);
}

/// Of a strategy that explains alone; also after the record was written and read.
TEST(ReportOf, ShowsWhatMattersOfOtherRanks) {
  EXPECT_THAT(report_html(sample_run()), Not(HasSubstr("What matters of other ranks")));
  RunRecord run = sample_run();
  run.explained.resize(2);
  run.explained[1] = {.others = 1200,
                      .features = 20,
                      .chosen = 17,
                      .vertices = {{4711, 0.75}, {12, 0.5}},
                      .columns = {{3, 0.875}},
                      .vertex_masks = {0.125, 0.25},
                      .epochs = 50,
                      .loss = {2.5, 1.25},
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

TEST(ReportOf, SaysOfWhichEpochsBytesAreTheMean) {
  RunRecord run = sample_run();
  for (EpochRecord& epoch : run.epochs) epoch.bytes = {};
  run.epochs.front().bytes.inter = Index(run.epochs.size()) * 2048;
  EXPECT_THAT(report_html(run), AllOf(HasSubstr("Sent per epoch"), HasSubstr("2.00 KiB"),
                                      HasSubstr("mean of " + std::to_string(run.epochs.size()))));
}

}  // namespace
}  // namespace atl
