#include "job/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "job/api_names.h"

namespace atl {
namespace {

std::vector<Field> join_fields() {
  std::vector<Field> all;
  all.push_back(
      {.path = "metadata.name",
       .type = FieldType::kText,
       .description = fmt::format(
           "the job's name: lower case letters, digits, '-' and '.', at most {} characters", kLongestJobName),
       .slot = at([](Job & j) -> auto& { return j.name; }),
       .required = true,
       .example = "metadata: {name: cora-gcn}"});
  for (auto* part : {dataset_fields, model_fields, link_fields, training_fields, strategy_fields,
                     placement_fields, cluster_fields}) {
    auto fields = part();
    std::move(fields.begin(), fields.end(), std::back_inserter(all));
  }
  return all;
}

void add_if_named(const Field& field, const std::string& name, std::vector<std::string>& paths) {
  if (field_name(field.path) == name && std::ranges::find(paths, field.path) == paths.end())
    paths.push_back(field.path);
}

}  // namespace

const std::vector<Field>& all_fields() {
  static const std::vector<Field> fields = join_fields();
  return fields;
}

std::vector<const Field*> fields_for(const std::string& model, const std::string& strategy) {
  std::vector<const Field*> chosen;
  for (const auto& field : all_fields()) {
    const bool of_strategy = field.path.starts_with("strategy.");
    if (field.of_kind.empty() || field.of_kind == (of_strategy ? strategy : model)) chosen.push_back(&field);
  }
  return chosen;
}

const Field* find_field(const std::vector<const Field*>& fields, const std::string& path) {
  for (const Field* field : fields) {
    if (field->path == path) return field;
  }
  return nullptr;
}

std::vector<std::string> paths_named(const std::vector<const Field*>& fields, const std::string& name) {
  std::vector<std::string> paths;
  for (const Field* field : fields) add_if_named(*field, name, paths);
  return paths;
}

std::vector<std::string> paths_named(const std::string& name) {
  std::vector<std::string> paths;
  for (const Field& field : all_fields()) add_if_named(field, name, paths);
  return paths;
}

namespace {

struct ToolsName {
  std::string_view theirs, here;
};
/// Other tools' names of fields (PyG, DGL, PyTorch) in camel case, where ours differ.
constexpr ToolsName kToolsNames[] = {
    {"lr", "learningRate"},       {"hiddenChannels", "hidden"}, {"hiddenDim", "hidden"},
    {"hiddenSize", "hidden"},     {"numLayers", "layers"},      {"nLayers", "layers"},
    {"numHeads", "heads"},        {"numEpochs", "epochs"},      {"maxEpochs", "epochs"},
    {"numNeighbors", "fanout"},   {"fanouts", "fanout"},        {"numNeighbours", "fanout"},
    {"dropoutRate", "dropout"},   {"worldSize", "ranks"},       {"numRanks", "ranks"},
    {"gradientClip", "clipNorm"}, {"gradClip", "clipNorm"},     {"maxNorm", "clipNorm"}};

std::string camel_case(const std::string& name) {
  std::string camel;
  for (bool after = false; const char c : name) {
    if (c != '_' || camel.empty()) camel += after ? char(std::toupper(static_cast<unsigned char>(c))) : c;
    after = c == '_';
  }
  return camel;
}

}  // namespace

std::string field_called(const std::string& name) {
  const std::string camel = camel_case(name);
  for (const ToolsName& other : kToolsNames)
    if (other.theirs == camel) return std::string(other.here);
  return camel;
}

std::vector<const Field*> children_of(const std::vector<const Field*>& fields, const std::string& path) {
  std::vector<const Field*> children;
  for (const Field* field : fields) {
    if (field_parent(field->path) == path) children.push_back(field);
  }
  return children;
}

Mutability mutability_of(const Field& field) {
  if (field.mutability != Mutability::kNever || field_parent(field.path).empty()) return field.mutability;
  for (const Field& object : all_fields()) {
    if (object.path == field_parent(field.path)) return mutability_of(object);
  }
  return Mutability::kNever;  // metadata has no row
}

}  // namespace atl
