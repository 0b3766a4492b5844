// Where rows that an importer hands on were read, for errors that a user can act on.
#pragma once

#include <string>

#include "base/error.h"
#include "base/types.h"

namespace atl {

/// "edges.npy: row 17", or "feat.csv.gz:18" where `lines`.
struct RowOrigin {
  std::string source;
  Index first = 0;  // number of the first row handed on
  bool lines = false;

  std::string at(Index row) const {
    return lines ? fmt::format("{}:{}", source, first + row) : fmt::format("{}: row {}", source, first + row);
  }
};

}  // namespace atl
