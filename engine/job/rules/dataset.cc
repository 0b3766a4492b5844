// The rules of `dataset`: stored or generated, and its size.
#include "job/rule.h"

namespace atl {
namespace {

const std::string kEitherName = "dataset.name and dataset.synthetic exclude each other (remove one)";
const std::string kNoSource = "is required, for example dataset: {name: cora} (or give dataset.synthetic)";

void data_source(const Check& c) {
  if (!c.has("dataset")) return;
  const bool name = c.has("dataset.name"), synthetic = c.has("dataset.synthetic");
  if (name && synthetic) c.error("dataset.synthetic", "{}", kEitherName);
  if (!name && !synthetic) c.error("dataset.name", "{}", kNoSource);
  if (name && !stays_inside(c.job.dataset.name)) {
    c.error("dataset.name", "'{}' must be a folder under the data root (a relative path without ..)",
            c.job.dataset.name);
  }
}

Rule data_source_rule() {
  return {data_source,
          {{"dataset", "synthetic", "!has(self.name) || !has(self.synthetic)", kEitherName},
           {"dataset", "name", "has(self.name) || has(self.synthetic)", kNoSource},
           {"dataset", "name", "!has(self.name) || " + stays_inside_in_cel("self.name"), "",
            "\"'\" + self.name + \"' must be a folder under the data root (a relative path without ..)\""}}};
}

const char* const kSizes[] = {"vertices", "averageDegree", "features", "classes"};
const std::string kNoSize = "is required (give it, or a preset: reddit, products, yelp or flickr)";

void size_is_given(const Check& c) {
  if (!c.has("dataset.synthetic") || !c.job.dataset.synthetic.preset.empty()) return;
  for (const char* name : kSizes) {
    const std::string path = std::string("dataset.synthetic.") + name;
    if (!c.has(path)) c.error(path, "{}", kNoSize);
  }
}

Rule size_rule() {
  Rule rule{size_is_given};
  for (const char* name : kSizes) {
    rule.server.push_back(
        {"dataset.synthetic", name, std::string("has(self.preset) || has(self.") + name + ")", kNoSize});
  }
  return rule;
}

void one_size(const Check& c) {
  const auto& s = c.job.dataset.synthetic;
  if (s.preset.empty() || s.vertices == 0 || s.scale == 1) return;
  c.error("dataset.synthetic.vertices",
          "{} vertices and scale {} of preset {} both give the size (remove one)", s.vertices, s.scale,
          s.preset);
}

/// The number of vertices in CEL, from an integer or from a quantity in a string.
std::string vertices_in_cel(const std::string& value) {
  return "(type(" + value + ") == int ? " + value + " : quantity(" + value + ").asInteger())";
}

/// A condition in CEL: the number is given and valid. Where it is wrong, the field's own rule says so.
std::string has_count(const std::string& value) {
  return "has(" + value + ") && (type(" + value + ") == int ? " + value + " > 0 : isQuantity(" + value +
         ") && quantity(" + value + ").isInteger() && quantity(" + value + ").asInteger() > 0)";
}

Rule one_size_rule() {
  return {
      one_size,
      {{"dataset.synthetic", "vertices",
        "!has(self.preset) || !has(self.scale) || self.scale == 1.0 || !(" + has_count("self.vertices") + ")",
        "",
        "'%d vertices and scale %s of preset %s both give the size (remove one)'.format([" +
            vertices_in_cel("self.vertices") + ", self.scale, self.preset])"}}};
}

void degree(const Check& c) {
  const auto& s = c.job.dataset.synthetic;
  if (s.vertices == 0 || s.average_degree < double(s.vertices)) return;
  c.error("dataset.synthetic.averageDegree", "{} arcs per vertex need more than {} vertices",
          s.average_degree, s.vertices);
}

Rule degree_rule() {
  return {degree,
          {{"dataset.synthetic", "averageDegree",
            "!has(self.averageDegree) || !(" + has_count("self.vertices") +
                ") || self.averageDegree < double(" + vertices_in_cel("self.vertices") + ")",
            "",
            "'%s arcs per vertex need more than %d vertices'.format([self.averageDegree, " +
                vertices_in_cel("self.vertices") + "])"}}};
}

void enough_vertices(const Check& c) {
  const auto vertices = c.job.dataset.synthetic.vertices;
  if (vertices == 0 || c.job.placement.ranks <= vertices) return;
  c.error("placement.ranks", "{} ranks for {} vertices (use at most one rank per vertex)",
          c.job.placement.ranks, vertices);
}

Rule enough_vertices_rule() {
  const std::string vertices = vertices_in_cel("self.dataset.synthetic.vertices");
  return {enough_vertices,
          {{"", "placement.ranks",
            "!(has(self.dataset.synthetic) && " + has_count("self.dataset.synthetic.vertices") +
                ") || self.placement.ranks <= " + vertices,
            "",
            "'%d ranks for %d vertices (use at most one rank per vertex)'.format([self.placement.ranks, " +
                vertices + "])"}}};
}

/// Refuses a split that generate_dataset() doesn't write. Only the folder of a stored data set tells which
/// splits it has.
void split_of_generated(const Check& c) {
  const DatasetSpec& spec = c.job.dataset;
  if (!c.has("dataset.synthetic")) return;
  if (spec.split != "default")
    c.error("dataset.split", "a generated graph has no split '{}' (use default, its only one)", spec.split);
  if (spec.split_column > 0)
    c.error("dataset.splitColumn", "{} is not allowed: a generated graph's split has one column (use 0)",
            spec.split_column);
}

Rule split_rule() {
  return {
      split_of_generated,
      {{"dataset", "split", "!has(self.synthetic) || !has(self.split) || self.split == 'default'", "",
        "\"a generated graph has no split '\" + self.split + \"' (use default, its only one)\""},
       {"dataset", "splitColumn", "!has(self.synthetic) || !has(self.splitColumn) || self.splitColumn == 0",
        "",
        "\"%d is not allowed: a generated graph's split has one column (use 0)\".format([self.splitColumn])"}}};
}

}  // namespace

std::vector<Rule> dataset_rules() {
  return {data_source_rule(),     size_rule(), one_size_rule(), degree_rule(),
          enough_vertices_rule(), split_rule()};
}

}  // namespace atl
