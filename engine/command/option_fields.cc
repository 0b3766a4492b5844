#include "command/option_fields.h"

#include <sstream>

#include "base/error.h"
#include "job/load.h"

namespace atl {
namespace {

constexpr std::string_view kMissing = ": is required";

/// A line of the parser, "WHERE: FIELD: what is wrong", with the option in place of where and field. Others stay.
std::string in_options(const std::string& line, std::span<const OptionField> options) {
  for (const OptionField& entry : options) {
    const std::string field = ": " + entry.field + ": ";
    const auto found = line.find(field);
    if (found != std::string::npos) return entry.option + ": " + line.substr(found + field.size());
  }
  return line;
}

std::string in_options(const Error& error, std::span<const OptionField> options) {
  std::istringstream lines(error.what());
  std::string line, wrong, missing;
  while (std::getline(lines, line)) {
    std::string& kind = line.find(kMissing) == std::string::npos ? wrong : missing;
    kind += (kind.empty() ? "" : "\n") + in_options(line, options);
  }
  return wrong.empty() ? missing : wrong;
}

}  // namespace

Job job_of_options(const Arguments& arguments, std::span<const OptionField> options,
                   const std::string& manifest) {
  std::vector<Override> overrides;
  for (const auto& [option, field] : options) {
    if (arguments.has(option)) overrides.push_back(field + "=" + arguments.get(option));
  }
  try {
    return parse_job(manifest, "the command line", overrides).job;
  } catch (const Error& error) {
    fail("{}", in_options(error, options));
  }
}

}  // namespace atl
