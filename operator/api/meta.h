// What every object of the API says about itself.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "operator/api/moment.h"

namespace atl::ctl {

struct Meta {
  std::string name, space, uid, version;  // space: its namespace; version: resourceVersion, opaque
  std::int64_t generation = 0;
  std::optional<Moment> created, deletion;  // deletion: when it is to be gone at the latest
  int grace = 0;                            // seconds between the call to delete and `deletion`
  std::map<std::string, std::string> labels, annotations;
  std::string owner_uid;  // of the one owner that is its controller; "" where it has none

  /// "" where it has none.
  std::string label(const std::string& key) const;
  std::string annotation(const std::string& key) const;
};

Meta read_meta(const nlohmann::json& object);

}  // namespace atl::ctl
