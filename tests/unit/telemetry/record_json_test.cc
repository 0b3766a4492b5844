// metrics.jsonl and run.json are interfaces, which scripts and later versions read.
#include "telemetry/run_folder.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "telemetry/sample_run.h"
#include "temporary_folder.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

TEST(RecordJson, AnEpochsLine) {
  EpochRecord epoch = sample_epoch(4);
  const std::string head =
      R"({"epoch":4,"loss":0.5,"train":0.5,"validation":0.75,"test":null,"validationLoss":1.5,"learningRate":0.01,)"
      R"("epochSeconds":0.25,"phases":{"compute":0.2,"communication":0.05},)"
      R"("traffic":[{"link":"inter","purpose":"halo","bytes":900},{"link":"inter","purpose":"gradient","bytes":100}],)"
      R"("residentBytes":5242880,"communicationSeconds":0.06,"progressCpuSeconds":0.01,"batches":)";
  const std::string tail = R"("bytes":{"intra":1000,"inter":2000}})";
  EXPECT_EQ(epoch_line(epoch), head + "null," + tail);
  epoch.own.batches = {1000, 30, 10, 1, 0.5, 400};
  epoch.staleness = {{1, 0.5, 0.75}};
  EXPECT_EQ(
      epoch_line(epoch),
      head +
          R"({"ownRows":1000,"cachedRows":30,"fetchedRows":10,"growths":1,"waitedSeconds":0.5,"gpuRows":400},)"
          R"("lateness":[{"layer":1,"rows":0.5,"gradients":0.75}],)" +
          tail);
}

std::string keys_of(const Json& json) {
  std::string keys;
  for (const auto& [key, value] : json.items()) keys += key + " ";
  return keys;
}

TEST(RecordJson, ARunsDocument) {
  RunRecord run = sample_run();
  run.pipeline = {4, 0.25, {3, 2}, {{{1, 0, 1, 4, 5.5}}, {{0, 1, 2, 3, 4}}}};
  run.explained.resize(1);
  run.explained[0] = {.others = 12, .vertices = {{11, 0.75}}, .loss = {2.5, 1.25}};
  run.links = LinkMetrics{.roc_auc = 0.5, .mrr = 0.125, .hits = {0, 0.5, 0.5, 1}, .hits_at = 1};
  const Json json = parse_ordered_json(run_document(run));
  EXPECT_EQ(
      keys_of(json),
      "format setting resumedFrom outcome bestEpoch validation test epochSecondsMedian startupSeconds "
      "peakMemoryBytes bytesByPair phasesByRank typicalEpochByRank trainingTraffic resumedSteps pipeline "
      "explained confusion links ");
  EXPECT_EQ(
      json["setting"].dump(),
      R"({"name":"cora-gcn","dataset":"cora","datasetChecksum":"0123456789abcdef","vertices":2708,"arcs":10556,)"
      R"("features":1433,"classes":3,"model":"gcn","parameters":23063,"strategy":"graph","partitioner":"metis",)"
      R"("metric":"accuracy","epochs":4,"ranks":2,"threads":1,"hosts":["n1","n2"],)"
      R"("versions":{"atoll":"0.1.0","open mpi":"4.1.4"},"machine":"2 cores, 24 GiB","output":"results/cora-gcn",)"
      R"("jobYaml":"spec:\n  model: {kind: gcn} # <&>\n","cpus":["0-3,8",""]})");
  EXPECT_EQ(
      json["typicalEpochByRank"][0].dump(),
      R"({"epochSeconds":0.25,"computeSeconds":0.2,"exposedCommunicationSeconds":0.05,"communicationSeconds":0.06,)"
      R"("progressCpuSeconds":0.01})");
  EXPECT_EQ(json["phasesByRank"][1].dump(), R"({"compute":0.7,"communication":0.3})");
  EXPECT_EQ(
      json["pipeline"].dump(),
      R"({"epoch":4,"bubble":0.25,"convolutions":[3,2],"stages":[[[1,0.0,1.0,4.0,5.5]],[[0,1.0,2.0,3.0,4.0]]]})");
  EXPECT_EQ(
      json["explained"].dump(),
      R"([{"others":12,"features":0,"chosen":0,"vertices":[[11,0.75]],"columns":[],"vertexMasks":[0.0,0.0],)"
      R"("columnMasks":[0.0,0.0],"epochs":0,"loss":[2.5,1.25],"seconds":0.0,"explanations":0}])");
  EXPECT_EQ(json["confusion"].dump(), R"({"classes":3,"counts":[50,3,1,2,60,4,0,5,70]})");
  EXPECT_EQ(json["links"].dump(),
            R"({"rocAuc":0.5,"averagePrecision":0.0,"mrr":0.125,"hits":[0.0,0.5,0.5,1.0],"hitsAt":1.0})");
}

/// Files of older versions lack what came later, and nothing else may be missing.
TEST(RecordJson, OlderFilesAreRead) {
  Json run = parse_ordered_json(run_document(sample_run())),
       epoch = parse_ordered_json(epoch_line(sample_epoch(4)));
  for (const char* key : {"typicalEpochByRank", "trainingTraffic", "resumedSteps", "pipeline", "explained"})
    run.erase(key);
  run["setting"].erase("cpus");
  EXPECT_EQ(parse_run_document(run.dump()).best_epoch, 4);
  for (const char* key : {"communicationSeconds", "progressCpuSeconds", "batches"}) epoch.erase(key);
  EXPECT_EQ(parse_epoch_line(epoch.dump()).bytes.inter, 2000);
  run.erase("bestEpoch"), epoch["bytes"].erase("intra");
  EXPECT_THAT(error_of([&] { parse_run_document(run.dump()); }), HasSubstr("bestEpoch"));
  EXPECT_THAT(error_of([&] { parse_epoch_line(epoch.dump()); }), HasSubstr("intra"));
}

}  // namespace
}  // namespace atl
