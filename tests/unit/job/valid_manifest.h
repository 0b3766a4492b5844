// A valid manifest, of which tests in this folder change one line, and the folder's other test data.
#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "where.h"

namespace atl {

/// A file of tests/data/manifest.
inline std::string read_data(const std::string& name) {
  std::ifstream file(source_folder() / "tests/data/manifest" / name);
  if (!file) throw std::runtime_error("no test data: " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline const std::string kValidManifest = read_data("valid.yaml");

}  // namespace atl
