#include "command/option_fields.h"

#include <fmt/format.h>
#include <sstream>

#include "base/error.h"
#include "base/sha256.h"
#include "dataset/catalogue/describe.h"
#include "job/load.h"

namespace atl {
namespace {

constexpr std::string_view kMissing = ": is required";

/// In a line of the parser, "WHERE: FIELD: what is wrong", replaces the place and the field by the option.
/// Returns other lines unchanged.
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

CommunitySpec community_spec(const SyntheticSpec& s) {
  CommunitySpec spec;
  if (s.preset.empty()) {
    spec.vertices = s.vertices;
  } else if (s.vertices > 0) {
    spec = sized_preset(s.preset, s.vertices, s.seed);
  } else {
    spec = scaled_preset(s.preset, s.scale, s.seed);
  }
  if (s.average_degree > 0) spec.average_degree = s.average_degree;
  if (s.features > 0) spec.features = s.features;
  if (s.classes > 0) spec.classes = int(s.classes);
  if (s.homophily >= 0) spec.homophily = s.homophily;
  if (s.train_share >= 0) spec.train = s.train_share;
  spec.seed = s.seed;
  return spec;
}

std::filesystem::path synthetic_folder(const std::filesystem::path& data_root, const SyntheticSpec& s) {
  std::string all = fmt::format("{} {} {} {} {} {} {} {} {}", s.kind, s.preset, s.scale, s.vertices,
                                s.average_degree, s.features, s.classes, s.homophily, s.seed);
  if (s.train_share >= 0) all += fmt::format(" {}", s.train_share);  // appended only if it is given
  return data_root / "generated" /
         ((s.preset.empty() ? s.kind : s.preset) + "-" + sha256_hex(all).substr(0, 12));
}

}  // namespace atl
