// The field table: every field of a GNNJob. A new field is one row in fields/ and one member in job.h;
// parser, validation, `atoll explain`, schema and resolved manifest follow from it.
#pragma once

#include <string>
#include <vector>

#include "job/field.h"

namespace atl {

/// Every row, objects before what is in them, options of all models and strategies included. Made once.
const std::vector<Field>& all_fields();

/// The rows that apply when these model and strategy kinds are chosen: those of all kinds and these two's
/// options.
std::vector<const Field*> fields_for(const std::string& model, const std::string& strategy);

/// The row with this path, or null. Of several (options of different kinds) the first in `fields`.
const Field* find_field(const std::vector<const Field*>& fields, const std::string& path);

/// The paths whose last part is `name` ("learningRate"), each once: for who looks for a field in the wrong
/// section.
std::vector<std::string> paths_named(const std::vector<const Field*>& fields, const std::string& name);
/// The same of the whole table.
std::vector<std::string> paths_named(const std::string& name);

/// Those directly below an object; "" = top of spec (and metadata).
std::vector<const Field*> children_of(const std::vector<const Field*>& fields, const std::string& path);

/// The field's own, or its nearest object's that isn't kNever.
Mutability mutability_of(const Field& field);

// The parts of the table, one file each.
std::vector<Field> dataset_fields();
std::vector<Field> model_fields();
std::vector<Field> link_fields();
std::vector<Field> training_fields();
std::vector<Field> optimizer_fields();  // called by training_fields(), which fixes the order
std::vector<Field> schedule_fields();
std::vector<Field> strategy_fields();
std::vector<Field> placement_fields();
std::vector<Field> cluster_fields();

}  // namespace atl
