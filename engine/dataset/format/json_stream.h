// JSON as a stream of events, for files too large to hold in memory.
#pragma once

#include <string>

#include "dataset/format/text.h"

namespace atl {

/// The reader of events. Depth counts open objects and arrays.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void key(const std::string& name, int depth) = 0;
  virtual void number(double value, int depth) = 0;
  virtual void end_array(int depth) = 0;
};

/// Reads the whole source. Throws Error naming file and byte for damaged JSON, and for strings, null and
/// booleans as values.
void read_json(ByteSource& source, JsonEvents& events);

}  // namespace atl
