// A small typed map of the options that only one model or one strategy has. The tables of models (models.h)
// and strategies (strategies.h) say which names exist, their types and defaults. After load_job() every
// option of the chosen kind is present, so readers need no defaults.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"

namespace atl {

class Options {
 public:
  using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;

  /// The option's value. Asking for a name or a type that the kind's table doesn't have is a bug
  /// (ATOLL_CHECK).
  bool flag(const std::string& name) const { return value_of<bool>(name); }
  std::int64_t integer(const std::string& name) const { return value_of<std::int64_t>(name); }
  double number(const std::string& name) const { return value_of<double>(name); }
  const std::string& text(const std::string& name) const { return value_of<std::string>(name); }
  const std::vector<std::int64_t>& integers(const std::string& name) const {
    return value_of<std::vector<std::int64_t>>(name);
  }

  bool has(const std::string& name) const { return values_.contains(name); }
  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  /// The value of an existing option, for the parser to set.
  Value& at(const std::string& name) { return values_.at(name); }
  const std::map<std::string, Value>& values() const { return values_; }
  bool operator==(const Options&) const = default;

 private:
  template <class T>
  const T& value_of(const std::string& name) const {
    const auto found = values_.find(name);
    ATOLL_CHECK(found != values_.end(), "option {} is not in the kind's table", name);
    const T* value = std::get_if<T>(&found->second);
    ATOLL_CHECK(value != nullptr, "option {} is of another type", name);
    return *value;
  }

  std::map<std::string, Value> values_;
};

}  // namespace atl
