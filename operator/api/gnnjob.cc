#include "operator/api/gnnjob.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/sha256.h"
#include "job/api_names.h"
#include "job/load.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr const char* kLocation = "manifest";

json manifest_of(const json& object, const Meta& meta) {
  return {{"apiVersion", std::string(kApiGroup) + "/" + kApiVersion},
          {"kind", kApiKind},
          {"metadata", {{"name", meta.name}, {"namespace", meta.space}}},
          {"spec", member(object, "spec")}};
}

std::string digest_of(json manifest, std::initializer_list<const char*> without) {
  for (const char* path : without) {
    const json::json_pointer field(path);
    if (!manifest.contains(field)) continue;
    const json::json_pointer holder = field.parent_pointer();
    manifest[holder].erase(field.back());
    if (manifest[holder].empty())
      manifest[holder.parent_pointer()].erase(holder.back());  // as if it had not been there
  }
  return sha256_hex(manifest.dump(-1, ' ', false, json::error_handler_t::replace)).substr(0, 10);
}

/// "manifest:1: training.epochs: …" without the place, which means nothing in an object that has no lines.
std::string without_places(const std::string& lines) {
  std::istringstream stream(lines);
  std::string text;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(kLocation)) line.erase(0, line.find(": ") + 2);
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

}  // namespace

GnnJob read_gnn_job(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) fail("a GNNJob that is no JSON object: '{}'", text.substr(0, 80));
  GnnJob read;
  read.meta = read_meta(object);
  const json manifest = manifest_of(object, read.meta);
  read.manifest = manifest.dump(-1, ' ', false, json::error_handler_t::replace);
  read.digest = digest_of(manifest, {"/spec/runPolicy"});
  read.prepare_digest = digest_of(
      manifest, {"/spec/runPolicy", "/spec/template", "/spec/resources", "/spec/output", "/spec/launcher",
                 "/spec/training/epochs", "/spec/placement/topologyLevels", "/spec/placement/levelWeights",
                 "/spec/placement/within", "/spec/placement/policy"});
  read.status = read_status(member(object, "status"));
  read.priority_class =
      text_of(member(member(member(object, "spec"), "template"), "spec"), "priorityClassName");
  try {
    read.job = parse_job(read.manifest, kLocation).job;
  } catch (const Error& error) {
    read.refusal = without_places(error.what());
  }
  return read;
}

}  // namespace atl::ctl
