// What is wrong with a manifest: collected, so that a user sees everything at once.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace atl {

struct Problems {
  std::vector<std::string> errors,
      warnings;  // "gnnjob.yaml:14: field: …", in the order in which they were found

  void error(const std::string& where, const std::string& path, const std::string& text) {
    errors.push_back(where + ": " + path + ": " + text);
  }
  void warning(const std::string& where, const std::string& path, const std::string& text) {
    warnings.push_back(where + ": " + path + ": " + text);
  }
};

/// Where each field was given: path → "gnnjob.yaml:14". Fields with their default are absent.
using Given = std::map<std::string, std::string>;

/// The location of a field, or of the nearest object around it that was given, or of the manifest.
std::string where_of(const Given& given, const std::string& path);

}  // namespace atl
