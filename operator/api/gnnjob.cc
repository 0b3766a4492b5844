#include "operator/api/gnnjob.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "job/api_names.h"
#include "job/fields.h"
#include "job/load.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr const char* kLocation = "manifest";

/// The limit of a spec, in bytes as JSON. All jobs are kept in memory. Without a limit, a few hundred specs
/// of a megabyte would fill it, and any user may create them.
constexpr std::size_t kLargestSpec = 64 << 10;

/// Sections and fields that don't change the prepare step's result.
constexpr std::array<std::string_view, 9> kNotPrepared = {"template",
                                                          "resources",
                                                          "output",
                                                          "launcher",
                                                          "training.epochs",
                                                          "placement.topologyLevels",
                                                          "placement.levelWeights",
                                                          "placement.within",
                                                          "placement.policy"};

json manifest_of(const json& object, const Meta& meta) {
  return {{"apiVersion", std::string(kApiGroup) + "/" + kApiVersion},
          {"kind", kApiKind},
          {"metadata", {{"name", meta.name}, {"namespace", meta.space}}},
          {"spec", member(object, "spec")}};
}

/// Removes fields that only a later release's resource has, and misspelt fields in a map with a short form.
/// There can't be other unknown fields, because the API server drops fields that its schema lacks.
void take_unknown(json& object, const std::string& parent, std::vector<std::string>& unknown) {
  for (auto it = object.begin(); it != object.end();) {
    const std::string path = parent.empty() ? it.key() : parent + "." + it.key();
    const auto field = std::ranges::find(all_fields(), path, &Field::path);
    if (field == all_fields().end()) {
      unknown.push_back(path);
      it = object.erase(it);
      continue;
    }
    if (it->is_object() && field->type == FieldType::kObject) take_unknown(*it, path, unknown);
    ++it;
  }
}

std::string digest_of(const std::string& text) {
  return sha256_hex(text).substr(0, 10);
}

MadeOf read_made_of(const Job& job) {
  const auto is_of_training = [](const Field& field) {
    return field.path != "metadata.name" && field_section(field.path) != "runPolicy";
  };
  const auto is_of_prepare = [&](const Field& field) {
    return is_of_training(field) && std::ranges::count(kNotPrepared, field.path) == 0 &&
           std::ranges::count(kNotPrepared, field_section(field.path)) == 0;
  };
  return {digest_of(key_of(job, is_of_training)), digest_of(key_of(job, is_of_prepare)), ""};
}

/// Removes the place from "manifest:1: training.epochs: …", because an object of the API has no lines.
std::string without_places(const std::string& lines) {
  std::istringstream stream(lines);
  std::string text;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(kLocation)) line.erase(0, line.find(": ") + 2);
    text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

/// Drops annotations and labels that nothing reads. Both may be as large as the API server allows for an
/// object.
void keep_own_words(Meta& meta) {
  meta.annotations.clear();
  std::erase_if(meta.labels, [](const auto& label) {
    return label.first != kClassLabel && label.first != kQueueLabel && label.first != kQueuePriorityLabel;
  });
}

std::string fault_of_size(std::size_t bytes) {
  return fmt::format(
      "spec: is {} KiB as JSON; at most {} are allowed: put what is large into a ConfigMap, and mount it by template",
      bytes >> 10, kLargestSpec >> 10);
}

/// Drops what only pods, and the objects beside them, are made of. The rest says how a job that has ended is
/// cleaned up.
void keep_what_clean_up_needs(GnnJob& job) {
  job.manifest.clear();
  job.refusal.clear();
  job.unknown.clear();
  if (!job.job) return;
  for (std::string* text :
       {&job.job->template_, &job.job->dataset.volume, &job.job->dataset.prepared, &job.job->output.volume})
    text->clear();
}

std::string manifest_text(const json& manifest) {
  return manifest.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// What a job's objects are made of. This is the status's record, as long as the spec still asks for the
/// same; a new release, or another API server, may read an unchanged spec differently. `read` is what the
/// spec asks for as read now.
MadeOf recalled(const MadeOf& read, const GnnJob& job) {
  const MadeOf& recorded = job.status.made_of;
  if (recorded.manifest.empty()) return read;
  const bool is_untouched = job.status.observed_generation == job.meta.generation;
  return is_untouched || recorded.manifest == read.manifest ? recorded : read;
}

/// The names of all fields directly below an object, of any kind.
std::vector<std::string> names_below(const std::string& path) {
  std::vector<std::string> names;
  for (const Field& field : all_fields()) {
    const bool is_below = field.path.size() > path.size() && field_parent(field.path) == path;
    if (is_below && std::ranges::count(names, field_name(field.path)) == 0)
      names.push_back(field_name(field.path));
  }
  return names;
}

}  // namespace

std::string misspelt_fields(const GnnJob& job) {
  std::string text;
  for (const std::string& path : job.unknown) {
    const auto map = std::ranges::find(all_fields(), field_parent(path), &Field::path);
    if (map == all_fields().end() || map->shorthand.empty()) return "";
    text += fmt::format("{}{}: unknown field{}", text.empty() ? "" : "\n", path,
                        suggestion(field_name(path), names_below(map->path)));
  }
  return text;
}

void refuse(GnnJob& job, const std::string& why) {
  job.refusal = why;
  job.manifest.clear();
  job.unknown.clear();
  job.job.reset();
}

void set_pod_size(GnnJob& job, int ranks) {
  json manifest = parse_json(job.manifest);
  json& placement = manifest["spec"]["placement"];
  if (ranks > 0)
    placement["ranksPerServer"] = ranks;
  else
    placement.erase("ranksPerServer");
  std::string text = manifest_text(manifest);
  job.job = parse_job(text, kLocation).job;
  job.manifest = std::move(text);
  job.made_of = read_made_of(*job.job);
  job.has_chosen_pod_size = ranks > 0;
}

void enter_status(GnnJob& job, Status status) {
  job.status = std::move(status);
  if (!job.job) {
    job.made_of = job.status.made_of;
    return;
  }
  const int chosen = job.status.pod_size.ranks, ranks = job.job->placement.ranks;
  if (chosen > 1 && ranks % chosen == 0 && job.job->placement.ranks_per_server == 0) {
    try {
      set_pod_size(job, chosen);
    } catch (const Error&) {
      job.has_chosen_pod_size = false;  // the changed spec no longer allows that size
    }
  }
  job.made_of = recalled(job.made_of, job);
}

GnnJob read_gnn_job(const std::string& text) {
  const json object = json_or_discarded(text);
  if (!object.is_object()) fail("a GNNJob that is no JSON object: '{}'", text.substr(0, 80));
  GnnJob read;
  read.meta = read_meta(object);
  keep_own_words(read.meta);
  json manifest = manifest_of(object, read.meta);
  if (manifest["spec"].is_object()) take_unknown(manifest["spec"], "", read.unknown);
  read.manifest = manifest_text(manifest);
  if (read.manifest.size() > kLargestSpec) {
    refuse(read, fault_of_size(read.manifest.size()));
  } else {
    read.priority_class =
        text_of(member(member(member(object, "spec"), "template"), "spec"), "priorityClassName");
    try {
      read.job = parse_job(read.manifest, kLocation).job;
      read.made_of = read_made_of(*read.job);
    } catch (const Error& error) {
      read.refusal = without_places(error.what());
    }
  }
  enter_status(read, read_status(member(object, "status")));
  if (has_ended(read.status.conditions)) keep_what_clean_up_needs(read);
  return read;
}

}  // namespace atl::ctl
