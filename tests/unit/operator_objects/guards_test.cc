// What templates may not say, field by field of tests/data/pod_security.json: tests/charts/pod_security holds
// that file against Kubernetes' own Pod Security admission, and the chart's policies against it.
#include "operator/objects/template.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/json.h"
#include "operator_api/sample_job.h"
#include "where.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kNotHere = "is not allowed here (";

json cases() {
  std::ifstream file(source_folder() / "tests/data/pod_security.json");
  return parse_json(file);
}

/// "/a/b/0/c" of "a.b[].c"
json::json_pointer place_of(std::string field) {
  for (std::size_t at; (at = field.find("[]")) != std::string::npos;) field.replace(at, 2, ".0");
  std::ranges::replace(field, '.', '/');
  return json::json_pointer("/" + field);
}

json part_of(const json& one, const json& value) {
  json part = json::object();
  part[place_of(one.at("field"))] = value;
  const json beside = one.value("beside", json::object());
  for (const auto& [field, more] : beside.items()) part[place_of(field)] = more;
  return part;
}

struct Placed {
  std::string path;
  json manifest;  // of the template
};

std::vector<Placed> templates_of(const json& one, const json& value) {
  const json part = part_of(one, value);
  std::vector<Placed> all;
  for (const std::string of : one.at("of")) {
    json spec = one.value("pod", json::object());
    if (of == "pod") {
      spec.update(part);
      all.push_back({"template.spec", {{"spec", spec}}});
    } else if (of == "annotations") {
      const json annotations = {{one.at("field").get<std::string>(), value}};
      all.push_back({"template.metadata.annotations", {{"metadata", {{"annotations", annotations}}}}});
    } else if (of == "volume") {
      spec["volumes"] = json::array({part});
      spec["volumes"][0]["name"] = "v";
      all.push_back({"template.spec.volumes[v]", {{"spec", spec}}});
    } else {
      spec["initContainers"] = json::array({part});
      spec["initContainers"][0]["name"] = "helper";
      all.push_back({"template.spec.initContainers[helper]", {{"spec", spec}}});
    }
  }
  return all;
}

std::vector<std::string> faults_of(const json& manifest, const std::set<std::string>& allowed) {
  const GnnJob job = sample_job({{"/spec/template", manifest}});
  EXPECT_TRUE(job.job) << job.refusal;
  return template_faults(*job.job, {.allowed = allowed});
}

/// "privileged" of "…the chart's jobs.allow can name privileged)"; "" where nothing allows it.
std::string feature_in(const std::string& fault) {
  const std::string words = "jobs.allow can name ";
  const auto at = fault.find(words);
  return at == std::string::npos ? "" : fault.substr(at + words.size(), fault.size() - at - words.size() - 1);
}

std::string without_brackets(std::string field) {
  for (std::size_t at; (at = field.find("[]")) != std::string::npos;) field.erase(at, 2);
  return field;
}

TEST(Guards, RefuseWhatTheBaselineRefuses) {
  for (const json& one : cases()) {
    const std::string field = without_brackets(one.at("field"));
    for (const json& value : one.at("refused"))
      for (const auto& [path, manifest] : templates_of(one, value)) {
        const auto faults = faults_of(manifest, {});
        ASSERT_EQ(faults.size(), 1u) << path << "." << field << " " << value;
        const bool is_first = value == one.at("refused")[0];
        const std::string words = one.value("ours", is_first ? one.value("words", kNotHere) : kNotHere);
        EXPECT_THAT(faults[0], testing::StartsWith(path + "." + field + ": "));
        EXPECT_THAT(faults[0], testing::HasSubstr(words));
        const std::string feature = feature_in(faults[0]);
        EXPECT_EQ(feature.empty(),
                  (field.starts_with("host") && field != "hostPath") || field.ends_with("hostProcess"))
            << faults[0];
        if (feature.empty()) continue;
        EXPECT_TRUE(is_allowable(feature)) << feature;
        EXPECT_THAT(faults_of(manifest, {feature}), IsEmpty()) << feature;
      }
  }
}

TEST(Guards, TakeWhatTheBaselineTakes) {
  for (const json& one : cases()) {
    if (one.contains("ours")) continue;  // a template may not have the field at all
    for (const json& value : one.at("taken"))
      for (const auto& [path, manifest] : templates_of(one, value))
        EXPECT_THAT(faults_of(manifest, {}), IsEmpty()) << path << " " << one.at("field") << " " << value;
  }
}

TEST(Guards, WhatIsNullIsNotThere) {
  EXPECT_THAT(faults_of(parse_json(R"({"spec": {"serviceAccountName": null, "securityContext": null,
                "volumes": [{"name": "v", "emptyDir": {}, "hostPath": null}],
                "initContainers": [{"name": "i", "ports": null, "securityContext": {"capabilities": null}}]}})"),
                        {}),
              IsEmpty());
}

TEST(Guards, ReachTheJobsOwnVolumes) {
  const json of_node = {{"hostPath", {{"path", "/"}}}};
  const json of_token =
      parse_json(R"({"projected": {"sources": [{"secret": {}}, {"serviceAccountToken": {"path": "t"}}]}})");
  const auto faults = [](const char* field, const json& volume, const std::set<std::string>& allowed) {
    return template_faults(*sample_job({{field, volume}}).job, {.allowed = allowed});
  };
  for (const auto& [field, name] : {std::pair{"/spec/dataset/volume", "dataset.volume"},
                                    {"/spec/dataset/prepared", "dataset.prepared"},
                                    {"/spec/output/volume", "output.volume"}}) {
    EXPECT_THAT(
        faults(field, of_node, {}),
        ElementsAre(name + std::string(".hostPath: is not allowed here (it is part of the node; leave it "
                                       "out; the chart's jobs.allow can name hostPath)")));
    EXPECT_THAT(
        faults(field, of_token, {}),
        ElementsAre(testing::StartsWith(name + std::string(".projected.sources.serviceAccountToken: is "
                                                           "not allowed here"))));
    EXPECT_THAT(faults(field, of_node, {"hostPath"}), IsEmpty());
    EXPECT_THAT(faults(field, of_token, {"serviceAccountToken"}), IsEmpty());
  }
}

TEST(Guards, NoNameOpensTheNodesNamespaces) {
  for (const char* name : {"hostNetwork", "hostPID", "hostProcess", "", "hostUsers"})
    EXPECT_FALSE(is_allowable(name)) << name;
  EXPECT_TRUE(is_allowable("IPC_LOCK"));
  EXPECT_THAT(guarded_features(), testing::Not(testing::Contains("")));
}

}  // namespace
}  // namespace atl::ctl
