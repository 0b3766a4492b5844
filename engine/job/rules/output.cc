// The rules of `output`.
#include <algorithm>

#include "job/rule.h"

namespace atl {

bool stays_inside(const std::string& path) {
  if (path.empty() || path.front() == '/') return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") return false;
    begin = end + 1;
  }
  return true;
}

std::string stays_inside_in_cel(const std::string& value) {
  return "size(" + value + ") > 0 && !" + value + ".matches('^/|(^|/)[.][.](/|$)')";
}

namespace {

void output_path(const Check& c) {
  if (c.has("output.path") && !stays_inside(c.job.output.path)) {
    c.error("output.path",
            "'{}' must be a relative path without .. (it is inside ./runs locally; --output chooses another "
            "folder)",
            c.job.output.path);
  }
}

}  // namespace

std::vector<Rule> output_rules() {
  return {
      {output_path,
       {{"output.path", "", stays_inside_in_cel("self"), "",
         "\"'\" + self + \"' must be a relative path without .. (it is inside ./runs locally; --output chooses "
         "another folder)\""}}}};
}

}  // namespace atl
