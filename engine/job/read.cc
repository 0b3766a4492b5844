#include "job/read.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "job/api_names.h"
#include "job/fields.h"
#include "job/models.h"
#include "job/samplers.h"
#include "job/strategies.h"

namespace atl {
namespace {

std::string child_path(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + "." + name;
}

std::vector<std::string> names_of(const std::vector<const Field*>& fields) {
  std::vector<std::string> names;
  for (const Field* field : fields) names.push_back(field_name(field->path));
  return names;
}

/// The text at spec.<a>.<b>, or `otherwise`. Finds the kinds of model and strategy before the table of their
/// fields is made.
std::string text_at(const Node& spec, const std::string& a, const std::string& b,
                    const std::string& otherwise) {
  const Node* object = spec.find(a);
  const Node* value = object ? object->find(b) : nullptr;
  const auto* text = value ? std::get_if<std::string>(&value->scalar) : nullptr;
  return text ? *text : otherwise;
}

/// The sampler that the strategy's block names; "" where it names none.
std::string sampler_name(const Node& spec, const std::string& strategy) {
  const Node* object = spec.find("strategy");
  return object == nullptr ? "" : text_at(*object, strategy, "sampler", "");
}

class Reader {
 public:
  explicit Reader(const Node& manifest) : manifest_(manifest) {}

  ReadResult read() {
    check_header();
    read_metadata();
    const Node* spec = manifest_.find("spec");
    out_.given[""] = spec ? spec->where : manifest_.where;
    if (spec == nullptr || spec->kind != Node::Kind::kMap) {
      out_.problems.error(out_.given[""], "spec", "is required: it holds dataset, model, training, …");
      return std::move(out_);
    }
    choose_kinds(*spec);
    read_object("", *spec);
    return std::move(out_);
  }

 private:
  void check_header() {
    expect("apiVersion", std::string(kApiGroup) + "/" + kApiVersion);
    expect("kind", kApiKind);
    for (const auto& [key, value] : manifest_.entries) {
      const std::vector<std::string> known{"apiVersion", "kind", "metadata", "spec", "status"};
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        out_.problems.error(value.where, key, "unknown field" + suggestion(key, known));
      }
    }
  }

  void expect(const std::string& key, const std::string& wanted) {
    const Node* value = manifest_.find(key);
    if (value == nullptr)
      return out_.problems.error(manifest_.where, key, "is required (use " + wanted + ")");
    if (value->written != wanted)
      out_.problems.error(value->where, key, in_quotes(value->written) + " is unknown (use " + wanted + ")");
  }

  /// Keeps the rest of metadata as it is, because it is Kubernetes' own.
  void read_metadata() {
    const Node* metadata = manifest_.find("metadata");
    if (metadata == nullptr || metadata->kind != Node::Kind::kMap) return;
    out_.given["metadata"] = metadata->where;
    out_.job.metadata = to_json(*metadata);
    if (const Node* name = metadata->find("name")) {
      out_.given["metadata.name"] = name->where;
      assign(*find_field(fields_for("", ""), "metadata.name"), *name, out_.job, out_.problems);
    }
  }

  /// Adds the chosen kinds' options to the table, and sets these options and other fields to the kinds' own
  /// defaults.
  void choose_kinds(const Node& spec) {
    const std::string model = text_at(spec, "model", "kind", ""),
                      strategy = text_at(spec, "strategy", "kind", default_strategy().kind);
    fields_ = fields_for(model, strategy);
    if (const ModelInfo* info = find_model(model)) take_defaults(info->kind, info->defaults);
    if (const StrategyInfo* info = find_strategy(strategy)) take_defaults(info->kind, info->defaults);
    if (const SamplerInfo* sampler = find_sampler(sampler_name(spec, strategy)))
      take_defaults("sampler " + sampler->name, sampler->defaults);
    for (const Field* field : fields_) {
      if (!field->initial) continue;
      Options& options =
          field->path.starts_with("model.") ? out_.job.model.options : out_.job.strategy.options;
      options.set(option_name(*field), *field->initial);
    }
  }

  void take_defaults(const std::string& kind, const std::vector<OwnDefault>& defaults) {
    for (const OwnDefault& own : defaults)
      assign(*find_field(fields_, own.path), parse_yaml_value(own.value, "default of " + kind), out_.job,
             out_.problems);
  }

  void read_object(const std::string& path, const Node& node) {
    out_.given[path] = node.where;
    for (const auto& [key, value] : node.entries) {
      const std::string child = child_path(path, key);
      const Field* field = find_field(fields_, child);
      if (field == nullptr || field_parent(field->path) != path) {
        unknown(path, key, value);
      } else if (field->type == FieldType::kObject) {
        read_child(*field, value);
      } else if (!value.is_null()) {
        out_.given[child] = value.where;
        assign(*field, value, out_.job, out_.problems);
      }
    }
  }

  void read_child(const Field& field, const Node& value) {
    if (value.is_null()) return;
    if (value.kind == Node::Kind::kMap) return read_object(field.path, value);
    if (value.kind == Node::Kind::kScalar && !field.shorthand.empty()) return read_shorthand(field, value);
    const std::vector<std::string> known = names_of(children_of(fields_, field.path));
    const std::string meant = map_of(field, value);
    out_.problems.error(
        value.where, field.path,
        "must be a map of fields" +
            (meant.empty() ? suggestion("", known)
                           : fmt::format(" (did you mean {}? known: {})", meant, joined(known, ", "))));
  }

  /// What a word in a map's place may mean: "strategy: {kind: pipegcn}" if it is one of the object's kinds,
  /// otherwise a name. Empty where it can be neither.
  std::string map_of(const Field& object, const Node& value) const {
    const auto* word = std::get_if<std::string>(&value.scalar);
    if (word == nullptr) return "";
    const auto map = [&](const char* key) {
      return fmt::format("{}: {{{}: {}}}", field_name(object.path), key, *word);
    };
    const Field* kind = find_field(fields_, object.path + ".kind");
    if (kind != nullptr && std::ranges::find(kind->choices, *word, &Choice::name) != kind->choices.end())
      return map("kind");
    return find_field(fields_, object.path + ".name") != nullptr ? map("name") : "";
  }

  /// Reads one scalar that stands in an object's place and sets several members. Their errors would all say
  /// the same, so only the first is kept.
  void read_shorthand(const Field& object, const Node& value) {
    out_.given[object.path] = value.where;
    for (const auto& name : object.shorthand) {
      const Field* member = find_field(fields_, object.path + "." + name);
      const auto errors = out_.problems.errors.size();
      out_.given[member->path] = value.where;
      assign(*member, value, out_.job, out_.problems);
      if (out_.problems.errors.size() > errors) return;
    }
  }

  void unknown(const std::string& path, const std::string& key, const Node& value) {
    const std::string child = child_path(path, key);
    const bool is_of_another = (path == "strategy" && (find_strategy(key) || strategy_with_option(child))) ||
                               !owners_of(child).empty();
    if (is_of_another && value.is_null()) return;  // null counts as not given
    if (path == "strategy" && find_strategy(key)) return misplaced_block(key, value);
    if (path == "model.options") {
      const ModelInfo* model = find_model(text_at(*manifest_.find("spec"), "model", "kind", ""));
      if (model == nullptr) return;  // the kind itself is wrong, and reported as such
      const std::string owners = owners_of(child);
      if (!owners.empty())
        return out_.problems.error(value.where, child, option_of_another(owners, model->kind));
      if (model->options.empty())
        return out_.problems.error(value.where, child, model->kind + " has no options (remove it)");
    }
    if (path == "strategy" && strategy_with_option(child) != nullptr)
      return out_.problems.error(value.where, child, option_of_strategy(*strategy_with_option(child)));
    out_.problems.error(value.where, child, "unknown field" + meant(key, path));
  }

  /// A hint about an unknown field: the fields of this name in other sections, or those of the engine's name
  /// for another tool's `key`, those of the chosen kinds first. If there are none, the nearest name in this
  /// section.
  std::string meant(const std::string& key, const std::string& path) const {
    constexpr std::size_t kMost = 3;
    const std::vector<std::string> known = names_of(children_of(fields_, path));
    std::vector<std::string> elsewhere = paths_named(fields_, key);
    if (elsewhere.empty()) elsewhere = paths_named(key);
    if (elsewhere.empty()) elsewhere = paths_named(fields_, field_called(key));
    if (elsewhere.empty()) elsewhere = paths_named(field_called(key));
    if (elsewhere.empty()) return suggestion(key, known);
    const bool more = elsewhere.size() > kMost;
    elsewhere.resize(std::min(elsewhere.size(), kMost));
    return fmt::format(" (did you mean {}{}? known: {})", joined(elsewhere, " or "), more ? " or …" : "",
                       joined(known, ", "));
  }

  void misplaced_block(const std::string& kind, const Node& value) {
    const std::string chosen = text_at(*manifest_.find("spec"), "strategy", "kind", default_strategy().kind);
    if (kind == chosen)
      return out_.problems.error(value.where, "strategy." + kind,
                                 "has no block: its options stand beside strategy.kind");
    out_.problems.error(value.where, "strategy." + kind, block_of_another(chosen));
  }

  const Node& manifest_;
  std::vector<const Field*> fields_;
  ReadResult out_;
};

}  // namespace

ReadResult read_job(const Node& manifest) {
  return Reader(manifest).read();
}

}  // namespace atl
