// The field table: every field of a GNNJob. A new field is one row in fields/ and one member in job.h;
// parser, validation, `atoll explain`, schema and resolved manifest follow from it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "job/field.h"

namespace atl {

/// All rows, each object before its fields, with the options of all models and strategies. Made once.
const std::vector<Field>& all_fields();

/// The rows that apply to this model and this strategy: those of all kinds, and the options of these two.
std::vector<const Field*> fields_for(const std::string& model, const std::string& strategy);

/// The row with this path, or null. Where options of several kinds share it, the first in `fields`.
const Field* find_field(const std::vector<const Field*>& fields, const std::string& path);

/// The paths whose last part is `name` ("learningRate"), each once, for a user who wrote the field in the
/// wrong section.
std::vector<std::string> paths_named(const std::vector<const Field*>& fields, const std::string& name);
/// The same for the whole table.
std::vector<std::string> paths_named(const std::string& name);
/// The engine's name of the field that other tools call `name`: learningRate for "lr", weightDecay for
/// "weight_decay". `name` itself where none is known.
std::string field_called(const std::string& name);

/// The fields directly below an object; "": the top of spec, and metadata.
std::vector<const Field*> children_of(const std::vector<const Field*>& fields, const std::string& path);

/// The field's own mutability or, if that is kNever, the mutability of the nearest object around the field
/// that isn't kNever.
Mutability mutability_of(const Field& field);

// The parts of the table, one file each.
std::vector<Field> dataset_fields();
std::vector<Field> model_fields();
std::vector<Field> link_fields();
std::vector<Field> training_fields();
std::vector<Field> optimizer_fields();  // called by training_fields(), to keep their order
std::vector<Field> schedule_fields();
std::vector<Field> strategy_fields();
std::vector<Field> placement_fields();
std::vector<Field> cluster_fields();

// `atoll explain`: the field table as text and as JSON schema.

/// The type, unit, default with its source, and allowed values of `path` ("training.optimizer",
/// "model.options.alpha"; "" = the whole manifest); for an object, the fields in it. Throws Error naming the
/// nearest path.
std::string explain(const std::string& path);

/// explain() of `path` and of every field below it.
std::string explain_all(const std::string& path);

/// The JSON schema (2020-12) of a GNNJob, from the same table.
std::string json_schema();

/// The field's description with its unit: "passes over the training vertices [epochs]".
std::string described(const Field& field);

/// The default where it is constant, otherwise null.
nlohmann::ordered_json default_json(const Field& field);

/// The names of the field's choices.
nlohmann::ordered_json choice_names(const Field& field);

/// The number as JSON: 1e9 as 1000000000, 0.5 as 0.5.
nlohmann::ordered_json json_number(double value);

}  // namespace atl
