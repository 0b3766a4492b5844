// Secret, ConfigMaps, NetworkPolicy, and the patches that pin and release.
#include "operator/objects/objects.h"

#include <gmock/gmock.h>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "job/load.h"
#include "operator/api/pod.h"
#include "operator/objects/names.h"
#include "operator_api/sample_job.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// What `ssh-keygen ARGUMENTS FILE` says of a private key; OpenSSH itself is the judge.
std::string ssh_keygen(const std::string& arguments, const std::string& key) {
  const fs::path file = fs::temp_directory_path() / ("key-" + std::to_string(getpid()));
  std::ofstream(file) << key;
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  FILE* pipe = popen(("ssh-keygen " + arguments + " -f " + file.string() + " 2>&1").c_str(), "r");
  std::array<char, 4096> text{};
  const auto length = fread(text.data(), 1, text.size(), pipe);
  pclose(pipe);
  fs::remove(file);
  return {text.data(), length};
}

TEST(LoginKeys, AreWhatOpenSshTakes) {
  const LoginKeys keys = make_login_keys();
  EXPECT_EQ(ssh_keygen("-y", keys.login.secret), keys.login.open + "\n");
  EXPECT_EQ(ssh_keygen("-y", keys.host.secret), keys.host.open + "\n");
  EXPECT_THAT(ssh_keygen("-l", keys.login.secret), testing::HasSubstr("(ED25519)"));
}

TEST(LoginKeys, AreNewEachTime) {
  const LoginKeys a = make_login_keys(), b = make_login_keys();
  EXPECT_NE(a.login.secret, b.login.secret);
  EXPECT_NE(a.login.open, a.host.open);
  EXPECT_NE(a.id, b.id);
  EXPECT_THAT(a.id, testing::MatchesRegex("[0-9a-f]{16}"));
}

TEST(Secret, HoldsBothEndsOfALogin) {
  const LoginKeys keys = make_login_keys();
  const json secret = parse_json(keys_secret(sample_job(), keys));
  EXPECT_EQ(secret.at("metadata").at("name"), sample_job().status.keys);
  EXPECT_EQ(secret.at("immutable"), true);
  EXPECT_EQ(secret.at("stringData").at("authorized_keys"), keys.login.open + "\n");
  EXPECT_EQ(secret.at("stringData").at("known_hosts"), "* " + keys.host.open + "\n");
  EXPECT_EQ(secret.at("stringData").size(), 4u);
}

TEST(JobConfigMap, IsTheManifestThatTheEngineReads) {
  const json map = parse_json(job_config_map(sample_job()));
  const Job job = parse_job(map.at("data").at("job.yaml"), "job.yaml").job;
  EXPECT_EQ(job.name, "cora");
  EXPECT_EQ(job, *sample_job().job);
  EXPECT_EQ(map.at("immutable"), true);
}

TEST(JobConfigMap, IsAnotherOneForAnotherManifestAlone) {
  auto name = [](const GnnJob& job) { return parse_json(job_config_map(job)).at("metadata").at("name"); };
  EXPECT_EQ(name(sample_job({{"/spec/runPolicy/suspend", true}})), name(sample_job()));
  EXPECT_NE(name(sample_job({{"/spec/placement/ranks", 2}})), name(sample_job()));
}

TEST(AttemptConfigMap, SaysWhereEachRankRuns) {
  const json map = parse_json(attempt_config_map(
      sample_job(), 3, {{"cora-0-0", "n1", "10.1.0.5", {0, 1}}, {"cora-1-2", "n2", "10.1.1.7", {2, 3}}},
      {.checksum = "e3b0c4", .parts = {2, 0, 1, 3}, .strategy = "{kind: granndis}"}));
  EXPECT_EQ(map.at("metadata").at("name"), "cora-attempt-3");
  EXPECT_EQ(parse_json(map.at("data").at("attempt.json").get<std::string>()),
            parse_json(R"({"attempt": 3, "run": "job-uid", "servers": [
    {"pod": "cora-0-0", "node": "n1", "address": "10.1.0.5", "ranks": [0, 1]},
    {"pod": "cora-1-2", "node": "n2", "address": "10.1.1.7", "ranks": [2, 3]}], "parts": [2, 0, 1, 3],
    "strategy": "{kind: granndis}", "prepared": "e3b0c4"})"));
  const json plain = parse_json(attempt_config_map(sample_job(), 1, {}, {}));
  const json content = parse_json(plain.at("data").at("attempt.json").get<std::string>());
  EXPECT_FALSE(content.contains("parts") || content.contains("strategy") || content.contains("prepared"))
      << content;
}

/// Whether a policy lets a pod with these labels, in this namespace, reach a port of the job's pods.
bool lets_in(const json& policy, const std::string& space, const json& labels, int port) {
  const std::string own = policy.at("metadata").at("namespace");
  for (const json& rule : policy.at("spec").at("ingress")) {
    bool port_good = !rule.contains("ports");
    for (const json& p : rule.value("ports", json::array())) port_good |= p.at("port") == port;
    for (const json& peer : rule.at("from")) {
      const bool space_good =
          peer.contains("namespaceSelector")
              ? peer.at("/namespaceSelector/matchLabels/kubernetes.io~1metadata.name"_json_pointer) == space
              : space == own;
      bool labels_good = true;
      const json wanted = peer.value("/podSelector/matchLabels"_json_pointer, json::object());
      for (const auto& [key, value] : wanted.items()) labels_good &= labels.value(key, "") == value;
      if (port_good && space_good && labels_good) return true;
    }
  }
  return false;
}

TEST(NetworkPolicy, LetsInTheJobItselfAndThoseWhoMeasure) {
  const json policy = parse_json(network_policy(sample_job(), {}));
  EXPECT_EQ(policy.at("spec").at("podSelector").at("matchLabels"), (json{{kJobLabel, "cora"}}));
  const json own{{kJobLabel, "cora"}}, other{{kJobLabel, "other"}}, none = json::object();
  EXPECT_TRUE(lets_in(policy, "team", own, 2222));
  EXPECT_TRUE(lets_in(policy, "team", own, 31234));
  EXPECT_FALSE(lets_in(policy, "team", other, 2222));
  EXPECT_FALSE(lets_in(policy, "team", none, 9400));
  EXPECT_FALSE(lets_in(policy, "elsewhere", own, 2222));
  for (const char* space : {"atoll-system", "monitoring"}) {
    EXPECT_TRUE(lets_in(policy, space, none, 9400));
    EXPECT_FALSE(lets_in(policy, space, none, 2222));
  }
}

json worker(const std::string& affinity = "null") {
  json pod = parse_json(worker_pod(sample_job(), {}, 0, {0, 1}, 0));
  pod["metadata"]["uid"] = "p1";
  if (affinity != "null") pod["spec"]["affinity"] = parse_json(affinity);
  return pod;
}

TEST(Release, PinsAndTakesTheGateAwayInOne) {
  const json before = worker();
  const Moment now = *parse_moment("2026-03-01T12:00:05Z");
  const json after = before.patch(parse_json(pin_and_release_patch(read_pod(before.dump()), "n3", now)));
  const PodView pod = read_pod(after.dump());
  EXPECT_EQ(pod.pinned, "n3");
  EXPECT_FALSE(is_gated(pod));
  EXPECT_EQ(pod.meta.annotation(kReleasedAnnotation), "2026-03-01T12:00:05Z");
}

TEST(Release, APinnedLauncherIsHeldBackUntilItIsReleased) {
  const json before = worker();
  const json pinned = before.patch(parse_json(pin_patch(read_pod(before.dump()), "n3")));
  EXPECT_TRUE(is_gated(read_pod(pinned.dump())));
  EXPECT_EQ(read_pod(pinned.dump()).pinned, "n3");
  const json released = pinned.patch(parse_json(pin_and_release_patch(read_pod(pinned.dump()), "n4", {})));
  EXPECT_EQ(read_pod(released.dump()).pinned, "n3") << "a pin stays";
  EXPECT_FALSE(is_gated(read_pod(released.dump())));
}

TEST(Release, EveryTermOfTheTemplatesAffinityIsNarrowed) {
  const json before =
      worker(R"({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]},
    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}]}}})");
  const json after = before.patch(parse_json(pin_patch(read_pod(before.dump()), "n3")));
  const json& terms = after.at(
      "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms"_json_pointer);
  ASSERT_EQ(terms.size(), 2u);
  for (const json& term : terms) {
    EXPECT_EQ(term.at("matchFields").at(0).at("values"), json{"n3"});
    EXPECT_EQ(term.at("matchExpressions").size(), 1u);
  }
  EXPECT_EQ(read_pod(after.dump()).pinned, "n3");
}

TEST(Release, LeavesOthersGatesAlone) {
  json before = worker();
  before["spec"]["schedulingGates"] =
      parse_json(R"([{"name": "kueue.x-k8s.io/topology"}, {"name": "atoll.dev/placement"}])");
  const json after = before.patch(parse_json(release_patch(read_pod(before.dump()), {})));
  EXPECT_THAT(read_pod(after.dump()).gates, testing::ElementsAre("kueue.x-k8s.io/topology"));
}

TEST(Release, FailsForAnotherPodOfTheSameName) {
  const json before = worker();
  const json patch = parse_json(pin_and_release_patch(read_pod(before.dump()), "n3", {}));
  json other = before;
  other["metadata"]["uid"] = "p2";
  EXPECT_THROW(other.patch(patch), json::exception);
}

}  // namespace
}  // namespace atl::ctl
