// Pods of the sample job, as JSON, and their mounts.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "operator/objects/objects.h"
#include "operator_api/sample_job.h"

namespace atl::ctl {

inline const Settings kSettings{.image = "atoll/engine:1"};

inline nlohmann::json prepare(Changes changes = {}) {
  return parse_json(prepare_pod(sample_job(changes), kSettings, Moment{}));
}
inline nlohmann::json worker(Changes changes = {}, int server = 1, const std::vector<Rank>& ranks = {2, 3}) {
  return parse_json(worker_pod(sample_job(changes), kSettings, server, ranks, 7));
}
inline nlohmann::json launcher(Changes changes = {}) {
  return parse_json(launcher_pod(sample_job(changes), kSettings, 3));
}
inline const nlohmann::json& engine(const nlohmann::json& pod) {
  return pod.at("spec").at("containers").at(0);
}

/// Mount path → the volume's source.
inline std::map<std::string, nlohmann::json> mounts(const nlohmann::json& pod) {
  std::map<std::string, nlohmann::json> sources, at;
  for (nlohmann::json volume : pod.at("spec").at("volumes")) {
    const std::string name = volume.at("name");
    volume.erase("name");
    EXPECT_TRUE(sources.emplace(name, volume).second) << name << " twice";
  }
  for (const nlohmann::json& m : engine(pod).at("volumeMounts"))
    at[m.at("mountPath")] = sources.at(m.at("name"));
  return at;
}

}  // namespace atl::ctl
