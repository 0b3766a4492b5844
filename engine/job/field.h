// One row of the field table: all that is known about one field of the manifest. Parser, validation, `atoll
// explain`, the JSON schema, the resolved manifest and (in the operator) the CRD are made from these rows.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "job/job.h"

namespace atl {

/// Access to a field whose C++ type is an enum. The value is the position in Field::choices.
struct EnumSlot {
  std::function<void(int)> set;
  std::function<int()> get;
};

/// Where a field's value lies in a Job.
using Slot =
    std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*, std::string*, std::vector<std::string>*,
                 std::vector<double>*, std::vector<std::int64_t>*, EnumSlot>;

enum class FieldType {
  kObject,      // has fields of its own
  kFlag,        // true | false
  kInteger,     //
  kCount,       // an integer that may be written with k, M, G
  kNumber,      //
  kText,        //
  kChoice,      // one of Field::choices
  kBytes,       // a Kubernetes quantity of bytes: 16Gi
  kCores,       // a Kubernetes quantity of cores: 4, 500m
  kTextList,    //
  kNumberList,  //
  kIntegerList,
  kFree,  // any mapping; kept as JSON
};

/// One allowed value of a kChoice.
struct Choice {
  std::string name;
  std::string meaning{};
};

/// The other field on which a field depends. The field only has a meaning with certain values of the other;
/// with any other value it is ignored, with a warning.
struct UsedWith {
  std::string path;
  std::vector<std::string> values;
};

/// When a job on a cluster may still be given another value of a field.
enum class Mutability { kNever, kWhileSuspended, kAlways };

/// How long a text and a list may be. An API server needs such limits.
inline constexpr int kLongestText = 1024;  // characters
inline constexpr int kMostItems = 16;      // items, unless the field says otherwise

struct Field {
  std::string path{};  // "training.optimizer.learningRate": without "spec."
  FieldType type = FieldType::kObject;
  std::string description{};
  std::function<Slot(Job&)> slot{};  // empty for objects
  std::vector<Choice> choices{};
  std::string unit{};
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  bool above_minimum = false;   // the minimum itself isn't allowed
  bool below_maximum = false;   // the maximum itself isn't allowed
  std::string source{};         // where the default comes from
  std::string default_text{};   // the default in words, where it isn't constant
  int most_items = kMostItems;  // how many items a list may have
  bool required = false;
  std::string example{};    // of a required field, where allowed_text doesn't show how to write it
  bool may_change = false;  // may differ between the run that wrote a checkpoint and the one that resumes it
  Mutability mutability = Mutability::kNever;  // an object's value holds for all its fields
  UsedWith used_with{};
  std::vector<std::string> shorthand{};     // for an object: the fields that one scalar in its place sets
  std::string of_kind{};                    // only this model or strategy has the option
  std::optional<Options::Value> initial{};  // an option's default
};

/// The last part of a path ("learningRate"), and the part before it ("training.optimizer"; "" at the top of
/// spec).
std::string field_name(const std::string& path);
std::string field_parent(const std::string& path);
/// The name of an option's value in Options: the path after "model." or "strategy.<kind>." ("cache.bytes").
std::string option_name(const Field& field);

/// The first part of a path ("training"): a section of spec, or metadata.
std::string field_section(const std::string& path);

/// Makes Field::slot from a function that returns the member: at([](Job& j) -> auto& { return
/// j.training.epochs; }).
template <class Member>
std::function<Slot(Job&)> at(Member member) {
  return [member](Job& job) -> Slot {
    auto& value = member(job);
    using T = std::remove_reference_t<decltype(value)>;
    if constexpr (std::is_enum_v<T>) {
      return EnumSlot{[&value](int i) { value = static_cast<T>(i); },
                      [&value] { return static_cast<int>(value); }};
    } else {
      return &value;
    }
  };
}

/// The value as it would be written in a manifest; free-form values as JSON, "" where nothing is given.
std::string value_text(const Field& field, Job& job);

/// Whether the field's value is the one that it has in a manifest that doesn't name it.
bool is_default(const Field& field, Job& job);

/// The default as `atoll explain` prints it; "" where there is none.
std::string default_of(const Field& field);

// Makes the field of an option from its name and default, for the tables of models and strategies.

enum class OptionOwner { kModel, kStrategy };

/// A field at `path` whose value lies in the owner's Options under option_name(). Its type follows from the
/// default's unless `rest` has one; a text with choices is a choice.
Field option_field(OptionOwner owner, const std::string& kind, const std::string& path,
                   Options::Value initial, Field rest);

/// A strategy's option, at strategy.<kind>.<name>.
Field strategy_option(const std::string& kind, const std::string& name, Options::Value initial, Field rest);

// A model's or a strategy's own default, which replaces the field table's.

/// The value is written as in a manifest.
struct OwnDefault {
  std::string path;   // "model.norm", "training.optimizer.weightDecay.convolutions"
  std::string value;  // "layer"
  std::string source;
};

}  // namespace atl
