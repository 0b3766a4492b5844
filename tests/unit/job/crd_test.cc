// The CustomResourceDefinition, checked as far as possible without an API server; tests/cluster/api asks a
// real one.
#include "job/crd/crd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>

#include "base/json.h"
#include "job/fields.h"
#include "job/load.h"
#include "job/models.h"
#include "job/rule.h"
#include "job/strategies.h"
#include "job/valid_manifest.h"
#include "job/yaml.h"
#include "where.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const Json& version() {
  static const Json crd =
      parse_ordered_json(to_json(parse_yaml(custom_resource_definition(), "crd.yaml").at(0)));
  return crd.at("spec").at("versions").at(0);
}

const Json& root_schema() {
  return version().at("schema").at("openAPIV3Schema");
}

/// The schema of a field by its dotted path below spec; null where there is none.
Json schema_at(const std::string& path) {
  if (path.empty()) return root_schema().at("properties").at("spec");
  const Json parent = schema_at(field_parent(path));
  const std::string name = field_name(path);
  const bool there = parent.contains("properties") && parent.at("properties").contains(name);
  return there ? parent.at("properties").at(name) : Json();
}

TEST(Crd, TheCommittedFileIsCurrent) {
  const std::string path = "manifests/crd/gnnjobs.atoll.dev.yaml";
  EXPECT_EQ(file_text(source_folder() / path), custom_resource_definition())
      << "renew it: build/atoll explain --crd > " << path;
}

/// Two names side by side that no operator joins; nothing where there are none such.
std::string words_of_prose(const std::string& cel) {
  static const std::regex kToken(R"('(\\.|[^'])*'|"(\\.|[^"])*"|[A-Za-z_][\w.]*|\S)");
  std::string before;
  for (std::sregex_iterator token(cel.begin(), cel.end(), kToken), end; token != end; ++token) {
    const std::string now = token->str();
    const auto is_name = [](const std::string& text) {
      return !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) != 0) && text != "in";
    };
    if (is_name(before) && is_name(now)) return before + " " + now;
    before = now;
  }
  return {};
}

TEST(Crd, RulesAreExpressionsAndNoProse) {
  EXPECT_EQ(words_of_prose("self.a == a tenth of it"), "a tenth") << "else this test shows nothing";
  for (const ServerRule& rule : server_rules())
    for (const std::string& cel : {rule.right, rule.message_expression})
      EXPECT_EQ(words_of_prose(cel), "") << rule.scope << "." << rule.field << ": " << cel;
}

TEST(PolicyFacts, TheCommittedFileIsCurrent) {
  const std::string path = "charts/atoll/crd/policy.yaml";
  EXPECT_EQ(file_text(source_folder() / path), policy_facts())
      << "renew it: build/atoll explain --policy > " << path;
}

TEST(Crd, HoldsEveryFieldWithItsFacts) {
  for (const Field& field : all_fields()) {
    if (field_section(field.path) == "metadata") continue;
    EXPECT_FALSE(schema_at(field.path).is_null()) << field.path;
  }
  EXPECT_EQ(schema_at("training.dropout").at("exclusiveMaximum"), true);
  EXPECT_EQ(schema_at("training.epochs").at("default"), 200);
  EXPECT_EQ(schema_at("training.loss").at("enum"), Json({"crossEntropy", "binaryCrossEntropy"}));
  EXPECT_EQ(schema_at("model.options.aggregator").at("enum"),
            Json({"mean", "meanWithSelf", "gcn", "softmax"}));
  EXPECT_EQ(schema_at("resources.memory").at("x-kubernetes-int-or-string"), true);
  EXPECT_EQ(schema_at("model").at("required"), Json({"kind"}));
}

TEST(Crd, ColumnsOfGet) {
  std::vector<std::string> names;
  const Json& crd_version = version();
  for (const auto& column : crd_version.at("additionalPrinterColumns")) names.push_back(column.at("name"));
  EXPECT_THAT(names, testing::ElementsAre("Strategy", "Ranks", "State", "Reason", "Nodes", "Epoch",
                                          "Validation", "ETA", "Age"));
  const Json& status = root_schema().at("properties").at("status");
  EXPECT_EQ(status.at("default"), Json({{"nodes", 0}, {"reason", "Unseen"}, {"state", "New"}}))
      << "of a job that no operator has seen";
  EXPECT_TRUE(crd_version.at("subresources").contains("status"));
}

/// Whether a string, list or map of unknown names says how large it may be; elsewhere `true`.
bool is_bounded(const Json& schema) {
  const std::string type = schema.value("type", "");
  if (type == "string")
    return schema.contains("maxLength") || schema.contains("enum") ||
           schema.value("format", "") == "date-time";
  if (type == "array") return schema.contains("maxItems");
  if (schema.contains("x-kubernetes-int-or-string")) return schema.contains("maxLength");
  if (schema.contains("x-kubernetes-preserve-unknown-fields") && type == "object")
    return schema.contains("maxProperties");
  return true;
}

void expect_bounds(const Json& schema, const std::string& path) {
  EXPECT_TRUE(is_bounded(schema)) << path;
  if (schema.contains("items")) expect_bounds(schema.at("items"), path + "[]");
  if (!schema.contains("properties")) return;
  for (const auto& [name, member] : schema.at("properties").items()) expect_bounds(member, path + "." + name);
}

TEST(Crd, EveryTextListAndMapIsBounded) {
  const Json& root = root_schema();
  for (const char* part : {"spec", "status"}) expect_bounds(root.at("properties").at(part), part);
}

/// What an API server does with the defaults of a schema.
void fill_in(const Json& schema, Json& value) {
  if (!value.is_object() || !schema.contains("properties")) return;
  for (const auto& [name, member] : schema.at("properties").items()) {
    if (member.contains("default") && !value.contains(name)) value[name] = member.at("default");
    if (value.contains(name)) fill_in(member, value[name]);
  }
}

std::string filled_in(const std::string& text) {
  Json manifest = parse_ordered_json(to_json(parse_yaml(text, "m.yaml").at(0)));
  fill_in(root_schema(), manifest);
  return manifest.dump();
}

/// Manifests that leave out much, each in another way.
std::vector<std::string> sparse_manifests() {
  const std::string head = "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: x}\nspec:\n";
  const std::string cora = "  dataset: {name: cora}\n";
  std::vector<std::string> all;
  for (const ModelInfo& info : model_infos())
    all.push_back(head + cora + "  model: {kind: " + info.kind + "}\n");
  const std::string gcn = head + cora + "  model: {kind: gcn}\n";
  for (const char* rest :
       {"  training: {optimizer: {kind: sgd}}\n", "  training: {optimizer: {weightDecay: 0.1}}\n",
        "  training: {learningRateSchedule: step}\n", "  training: {learningRateSchedule: {kind: cosine}}\n",
        "  training: {inputDropout: 0}\n", "  training: {inputDropout: {rate: 0.5}}\n",
        "  training: {earlyStopping: 10, checkpoint: {every: 3}}\n", "  placement: {partitioner: range}\n",
        "  placement: {ranks: 4, partitioner: {kind: hash}}\n", "  strategy: {graph: {}}\n",
        "  resources: {cpu: 2}\n", "  runPolicy: {suspend: true}\n"})
    all.push_back(gcn + rest);
  all.push_back(head + "  dataset: {synthetic: {kind: community, preset: flickr}}\n  model: {kind: gcn}\n");
  for (const auto& example : std::filesystem::directory_iterator(source_folder() / "manifests/examples"))
    if (example.path().stem() != "datasets") all.push_back(file_text(example.path()));
  return all;
}

std::string without_lines(const std::vector<std::string>& warnings) {
  std::string out;
  for (const auto& warning : warnings) out += warning.substr(warning.find(": ") + 2) + "\n";
  return out;
}

TEST(Crd, DefaultsOfTheApiServerChangeNeitherJobNorWarnings) {
  for (const std::string& text : sparse_manifests()) {
    const LoadedJob as_written = parse_job(text, "m.yaml"),
                    from_server = parse_job(filled_in(text), "m.yaml");
    EXPECT_EQ(write_job(from_server.job), write_job(as_written.job)) << text;
    EXPECT_EQ(without_lines(from_server.warnings), without_lines(as_written.warnings)) << text;
  }
}

TEST(Crd, DefaultsMakeSectionsButNoBlocks) {
  const auto spec = parse_ordered_json(filled_in(sparse_manifests().front())).at("spec");
  EXPECT_EQ(spec.at("strategy"), (Json{{"kind", "graph"}, {"wire", "float32"}}));
  EXPECT_EQ(spec.at("placement").at("ranks"), 1);
  EXPECT_EQ(spec.at("training").at("optimizer").at("kind"), "adam");
  EXPECT_FALSE(spec.at("training").at("optimizer").contains("learningRate"));  // sgc has its own
  EXPECT_FALSE(spec.at("dataset").contains("synthetic"));
  EXPECT_EQ(spec.at("model"), (Json{{"kind", "gcn"}}));  // no options, and no layers: sgc has none
}

/// Where each rule points, and the words of those about changes.
std::map<std::string, std::string> change_words() {
  std::map<std::string, std::string> words;
  const Json& root = root_schema();
  for (const auto& rule : root.at("x-kubernetes-validations"))
    words[rule.at("fieldPath")] = rule.at("message");
  return words;
}

TEST(Crd, WhatMayChangeOfAJobThatExists) {
  const auto words = change_words();
  for (const char* path : {".spec.dataset", ".spec.task", ".spec.model", ".spec.linkPrediction",
                           ".spec.training", ".spec.strategy", ".spec.output", ".spec.launcher",
                           ".spec.image", ".spec.runPolicy.cleanPodPolicy"}) {
    ASSERT_TRUE(words.contains(path)) << path;
    EXPECT_THAT(words.at(path), HasSubstr("can't be changed once the job exists"));
  }
  for (const char* path : {".spec.placement", ".spec.template", ".spec.resources"}) {
    ASSERT_TRUE(words.contains(path)) << path;
    EXPECT_THAT(words.at(path), HasSubstr("while the job is suspended"));
  }
  EXPECT_EQ(words.size(), 13u);  // the rest of runPolicy may change at any time
}

TEST(Crd, EveryRulePointsAtAFieldAndHasWords) {
  for (const Rule& rule : all_rules()) {
    for (const ServerRule& half : rule.server) {
      const std::string path =
          half.scope + (half.scope.empty() || half.field.empty() ? "" : ".") + half.field;
      EXPECT_FALSE(schema_at(path).is_null()) << path;
      EXPECT_TRUE(half.message.empty() != half.message_expression.empty()) << path;
    }
  }
}

TEST(Crd, EveryStrategyHasABlockThatOnlyItsKindMayUse) {
  const Json rules = schema_at("strategy").at("x-kubernetes-validations");
  std::string paths;
  for (const auto& rule : rules) paths += rule.at("fieldPath").get<std::string>() + " ";
  for (const auto& info : strategy_infos()) {
    if (!has_block(info)) continue;
    EXPECT_FALSE(schema_at("strategy." + info.kind).is_null()) << info.kind;
    EXPECT_THAT(paths, HasSubstr("." + info.kind + " "));
  }
}

TEST(YamlText, IsReadBackToTheSameTree) {
  const Json tree{
      {"on", "yes"},
      {"plain", "a word (or two)"},
      {"number", "010"},
      {"empty", ""},
      {"spaces", " x "},
      {"colon", "a: b # c"},
      {"quote", "it's \"so\" \\ é\n"},
      {"dash", "- a"},
      {"null", nullptr},
      {"half", 0.5},
      {"list", Json::array({1, Json::array({2, 3}), Json::object()})},
      {"maps", Json::array({Json{{"a", 1}, {"b", Json{{"c", true}}}}, Json{{"d", Json::array({"x"})}}})}};
  EXPECT_EQ(parse_ordered_json(to_json(parse_yaml(yaml_text(tree), "t.yaml").at(0))),
            parse_ordered_json(nlohmann::json(tree).dump()))
      << yaml_text(tree);
}

}  // namespace
}  // namespace atl
