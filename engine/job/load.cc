#include "job/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "job/override.h"
#include "job/read.h"
#include "job/rules.h"
#include "job/yaml.h"

namespace atl {
namespace {

/// The one document of kind GNNJob; others (a ConfigMap in the same file) are not ours.
Node gnn_job_of(std::vector<Node> documents, const std::string& name) {
  std::vector<Node> jobs;
  for (auto& document : documents) {
    const Node* kind = document.find("kind");
    if (documents.size() == 1 || (kind && kind->written == "GNNJob")) jobs.push_back(std::move(document));
  }
  if (documents.empty()) fail("{}: is empty (a manifest begins with apiVersion: atoll.dev/v1alpha1)", name);
  if (jobs.empty())
    fail("{}: none of its {} documents is a job (one needs kind: GNNJob)", name, documents.size());
  if (jobs.size() > 1) {
    fail("{}: kind: {} GNNJobs in one file, the first at {} (give each a file of its own)", jobs[1].where,
         jobs.size(), jobs[0].where);
  }
  if (jobs[0].kind != Node::Kind::kMap)
    fail("{}: is not a manifest (it must be a map with apiVersion, kind, …)", jobs[0].where);
  return std::move(jobs[0]);
}

}  // namespace

LoadedJob parse_job(const std::string& text, const std::string& name,
                    const std::vector<Override>& overrides) {
  Node manifest = gnn_job_of(parse_yaml(text, name), name);
  for (const auto& override : overrides) apply_override(manifest, override);
  ReadResult read = read_job(manifest);
  // A field that is wrong has its default by now, and what doesn't go with that would be told of something that nobody wrote.
  if (read.problems.errors.empty()) check_rules(read.job, read.given, read.problems);
  if (!read.problems.errors.empty()) throw Error(fmt::format("{}", fmt::join(read.problems.errors, "\n")));
  if (read.job.output.path.empty()) read.job.output.path = read.job.name;
  return {std::move(read.job), std::move(read.given), std::move(read.problems.warnings)};
}

LoadedJob load_job(const std::filesystem::path& file, const std::vector<Override>& overrides) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file)) {
    fail("{}: can't be read: {}; check the path", file.string(),
         stream ? "it is a folder" : std::strerror(errno));
  }
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return parse_job(text, file.string(), overrides);
}

}  // namespace atl
