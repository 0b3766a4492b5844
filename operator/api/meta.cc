#include "operator/api/meta.h"

#include <nlohmann/json.hpp>

#include "operator/api/json_values.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using Texts = std::map<std::string, std::string>;

Texts texts(const nlohmann::json& object) {
  Texts all;
  for (const auto& [key, value] : object.items()) all[key] = text_of(value);
  return all;
}

std::string found(const Texts& texts, const std::string& key) {
  const auto at = texts.find(key);
  return at == texts.end() ? "" : at->second;
}

}  // namespace

std::string Meta::label(const std::string& key) const {
  return found(labels, key);
}

std::string Meta::annotation(const std::string& key) const {
  return found(annotations, key);
}

Meta read_meta(const nlohmann::json& object) {
  const auto& metadata = member(object, "metadata");
  Meta meta;
  meta.name = text_of(metadata, "name");
  meta.space = text_of(metadata, "namespace");
  meta.uid = text_of(metadata, "uid");
  meta.version = text_of(metadata, "resourceVersion");
  meta.generation = integer_of(metadata, "generation").value_or(0);
  meta.created = moment_of(metadata, "creationTimestamp");
  meta.deletion = moment_of(metadata, "deletionTimestamp");
  meta.grace = int(integer_of(metadata, "deletionGracePeriodSeconds").value_or(0));
  meta.labels = texts(member(metadata, "labels"));
  meta.annotations = texts(member(metadata, "annotations"));
  for (const auto& owner : list_of(metadata, "ownerReferences"))
    if (member(owner, "controller") == true) meta.owner_uid = text_of(owner, "uid");
  return meta;
}

}  // namespace atl::ctl
