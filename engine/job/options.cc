#include "job/options.h"

#include "base/error.h"

namespace atl {
namespace {

template <class T>
const T& value_of(const std::map<std::string, Options::Value>& values, const std::string& name) {
  const auto found = values.find(name);
  ATOLL_CHECK(found != values.end(), "option {} is not in the kind's table", name);
  const T* value = std::get_if<T>(&found->second);
  ATOLL_CHECK(value != nullptr, "option {} is of another type", name);
  return *value;
}

}  // namespace

bool Options::flag(const std::string& name) const {
  return value_of<bool>(values_, name);
}
std::int64_t Options::integer(const std::string& name) const {
  return value_of<std::int64_t>(values_, name);
}
double Options::number(const std::string& name) const {
  return value_of<double>(values_, name);
}
const std::vector<std::int64_t>& Options::integers(const std::string& name) const {
  return value_of<std::vector<std::int64_t>>(values_, name);
}
const std::string& Options::text(const std::string& name) const {
  return value_of<std::string>(values_, name);
}

}  // namespace atl
