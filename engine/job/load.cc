#include "job/load.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "job/fields.h"
#include "job/models.h"
#include "job/read.h"
#include "job/rule.h"
#include "job/yaml.h"

namespace atl {
namespace {

// --set path=value changes the manifest's tree before it is read, so that the change is parsed, checked and
// reported like a line of the file.

/// The members of a path; a name with a slash (nvidia.com/gpu) is one member.
std::vector<std::string> members(const std::string& path) {
  if (path.empty()) return {};
  auto all = members(field_parent(path));
  all.push_back(field_name(path));
  return all;
}

/// Turns a scalar that stands for several members into the map that it means, so that one member can be
/// changed.
void expand_shorthand(Node& node, const std::string& path) {
  for (const Field& field : all_fields()) {
    if (field.path != path || field.shorthand.empty() || node.kind != Node::Kind::kScalar || node.is_null())
      continue;
    Node map;
    map.kind = Node::Kind::kMap;
    map.where = node.where;
    for (const auto& name : field.shorthand) map.entries.push_back({name, node});
    node = std::move(map);
    return;
  }
}

Node& child(Node& parent, const std::string& name, const std::string& where) {
  if (parent.kind != Node::Kind::kMap) {
    parent = Node{};
    parent.kind = Node::Kind::kMap;
    parent.where = where;
  }
  if (Node* found = parent.find(name)) return *found;
  Node added;
  added.where = where;
  parent.entries.push_back({name, std::move(added)});
  return parent.entries.back().value;
}

/// `override` is "training.epochs=50", perhaps with "spec." in front. Throws Error without a '=' or a path.
void apply_override(Node& manifest, const std::string& override) {
  const std::string where = "--set " + override;
  const auto equals = override.find('=');
  if (equals == std::string::npos || equals == 0) fail("{}: must be path=value (training.epochs=50)", where);
  std::string path = override.substr(0, equals);
  if (path.starts_with("spec.")) path = path.substr(5);

  const bool metadata = path.starts_with("metadata.");
  Node* at = metadata ? &manifest : &child(manifest, "spec", where);
  std::string so_far;
  for (const auto& name : members(path)) {
    if (name.empty()) fail("{}: a part of the path is empty", where);
    at = &child(*at, name, where);
    so_far += (so_far.empty() ? "" : ".") + name;
    if (so_far != path) expand_shorthand(*at, so_far);
  }
  const std::string value = override.substr(equals + 1);
  if (value.empty())
    fail("{}: has no value (give one behind the =, null for the default, or '\"\"' for an empty text)",
         where);
  *at = parse_yaml_value(value, where);
}

/// Replaces each List by its items: `kubectl get … -o yaml` of several objects prints one document of kind
/// List.
std::vector<Node> without_lists(std::vector<Node> documents) {
  std::vector<Node> all;
  for (Node& document : documents) {
    const Node* kind = document.find("kind");
    Node* items = document.find("items");
    const bool is_list = kind != nullptr && items != nullptr && kind->written.ends_with("List");
    if (is_list && items->kind == Node::Kind::kList)
      std::ranges::move(items->items, std::back_inserter(all));
    else
      all.push_back(std::move(document));
  }
  return all;
}

/// The one document of kind GNNJob. Other documents (a ConfigMap in the same file) are ignored.
Node gnn_job_of(std::vector<Node> documents, const std::string& name) {
  documents = without_lists(std::move(documents));
  std::vector<Node> jobs;
  for (auto& document : documents) {
    const Node* kind = document.find("kind");
    if (documents.size() == 1 || (kind && kind->written == "GNNJob")) jobs.push_back(std::move(document));
  }
  if (documents.empty()) fail("{}: is empty (a manifest begins with apiVersion: atoll.dev/v1alpha1)", name);
  if (jobs.empty())
    fail("{}: none of its {} documents is a job (one needs kind: GNNJob)", name, documents.size());
  if (jobs.size() > 1) {
    fail("{}: kind: {} GNNJobs in one file, the first at {} (give each a file of its own)", jobs[1].where,
         jobs.size(), jobs[0].where);
  }
  if (jobs[0].kind != Node::Kind::kMap)
    fail("{}: is not a manifest (it must be a map with apiVersion, kind, …)", jobs[0].where);
  return std::move(jobs[0]);
}

/// The text of standard input. It is kept because it can be read only once, and a command may load its
/// manifest several times with different changes.
const std::string& standard_input() {
  static const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  return text;
}

}  // namespace

LoadedJob parse_job(const std::string& text, const std::string& name,
                    const std::vector<Override>& overrides) {
  Node manifest = gnn_job_of(parse_yaml(text, name), name);
  for (const auto& override : overrides) apply_override(manifest, override);
  ReadResult read = read_job(manifest);
  // A field with a wrong value still has its default here. Rules would complain about a value that nobody
  // wrote.
  if (read.problems.errors.empty()) check_rules(read.job, read.given, read.problems);
  if (!read.problems.errors.empty()) throw Error(joined(read.problems.errors, "\n"));
  if (read.job.output.path.empty()) read.job.output.path = read.job.name;
  return {std::move(read.job), std::move(read.given), std::move(read.problems.warnings)};
}

LoadedJob load_job(const std::filesystem::path& file, const std::vector<Override>& overrides) {
  if (file == kStandardInput) return parse_job(standard_input(), "standard input", overrides);
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file)) {
    fail("{}: can't be read: {}; check the path", file.string(),
         stream ? "it is a folder" : std::strerror(errno));
  }
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return parse_job(text, file.string(), overrides);
}

void settle_self_loops(Job& job) {
  const ModelInfo* const info = find_model(job.model.kind);
  const bool keeps = info != nullptr && info->keeps_loops != nullptr && info->keeps_loops(job.model.options);
  if (keeps && job.dataset.self_loops == SelfLoops::kModel) job.dataset.self_loops = SelfLoops::kKeep;
}

/// Afterwards the job is as if selfLoops hadn't been given.
void settle_self_loops(LoadedJob& loaded) {
  if (loaded.job.dataset.self_loops == SelfLoops::kModel) loaded.given.erase("dataset.selfLoops");
  settle_self_loops(loaded.job);
}

}  // namespace atl
