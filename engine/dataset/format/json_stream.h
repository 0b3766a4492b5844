// JSON as a stream of events, for files larger than memory should hold.
#pragma once

#include <string>

#include "dataset/format/text.h"

namespace atl {

/// What a reader does with each event. Depth counts open objects and arrays.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void key(const std::string& name, int depth) = 0;
  virtual void number(double value, int depth) = 0;
  virtual void end_array(int depth) = 0;
};

/// Reads the whole source. Damaged JSON, and strings, null and booleans as values, are Errors that name file
/// and byte.
void read_json(ByteSource& source, JsonEvents& events);

}  // namespace atl
