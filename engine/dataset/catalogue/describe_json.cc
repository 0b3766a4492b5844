// A description of a data set as one line of JSON.
#include "base/json.h"
#include "dataset/catalogue/describe.h"
#include "dataset/dataset.h"

namespace atl {
namespace {

// Keys keep the order in which they are added.
using Json = nlohmann::ordered_json;

void add_meta(Json& out, const DatasetMeta& meta) {
  out["name"] = meta.name;
  out["vertices"] = meta.vertices;
  out["arcs"] = meta.arcs;
  out["features"] = meta.features;
  out["featureForm"] = to_string(meta.feature_form);
  out["featureNonzeros"] = meta.feature_nonzeros;
  out["classes"] = meta.classes;
  out["classNames"] = meta.class_names.empty() ? Json(nullptr) : Json(meta.class_names);
  out["multiLabel"] = meta.multi_label;
  out["weighted"] = meta.weighted;
  out["symmetric"] = meta.symmetric;
  out["selfLoops"] = meta.self_loops;
  out["splits"] = meta.splits;
  if (meta.pairs.any()) {
    const auto& of = meta.pairs.of;
    out["edgeSplit"] = {{"train", of[0]}, {"supervised", meta.pairs.supervised}, {"validation", of[1]},
                        {"test", of[2]},  {"validationNegatives", of[3]},        {"testNegatives", of[4]}};
  }
  out["transforms"] = meta.transforms;
  out["source"] = meta.source;
  out["licence"] = meta.licence;
  out["checksum"] = meta.checksum;
}

Json degrees(const DegreeStatistics& s) {
  return {{"mean", s.mean},
          {"median", s.median},
          {"p90", s.p90},
          {"p99", s.p99},
          {"p999", s.p999},
          {"largest", s.largest},
          {"tailExponent", s.tail_exponent}};
}

Json splits(const std::vector<SplitStatistics>& all) {
  Json out = Json::object();
  for (const SplitStatistics& split : all) {
    out[split.name] = {{"train", split.train}, {"validation", split.validation}, {"test", split.test}};
  }
  return out;
}

Json published(const std::optional<PublishedComparison>& comparison) {
  if (!comparison) return nullptr;
  const PublishedCounts& counts = *comparison->published;
  return {{"differences", comparison->differences},
          {"vertices", counts.vertices},
          {"arcs", counts.arcs},
          {"features", counts.features},
          {"classes", counts.classes},
          {"source", counts.source}};
}

Json preset(const Preset* given) {
  if (given == nullptr) return nullptr;
  Json boundary = Json::array();
  for (const BoundaryRatio& b : given->boundary) {
    boundary.push_back({{"parts", b.parts}, {"haloRatio", b.ratio}, {"source", b.source}});
  }
  const CommunitySpec& real = given->spec;
  return {{"name", real.name},
          {"vertices", real.vertices},
          {"averageDegree", real.average_degree},
          {"largestDegree", real.largest_degree},
          {"tailExponent", real.tail_exponent},
          {"homophily", real.homophily},
          {"boundary", boundary}};
}

}  // namespace

std::string to_json(const DatasetDescription& d) {
  Json out = {{"event", "dataset"}};
  add_meta(out, d.meta);
  out["isolated"] = d.degrees.isolated;
  out["sourcesOnly"] = d.degrees.sources_only;
  out["reverseShare"] = d.reverse_share;
  out["degree"] = degrees(d.degrees);
  out["homophily"] = d.homophily < 0 ? Json(nullptr) : Json(d.homophily);
  out["labelled"] = d.labelled;
  out["classCounts"] = d.class_counts;
  out["splitCounts"] = splits(d.splits);
  out["bytes"] = d.bytes;
  out["published"] = published(d.published);
  out["preset"] = preset(d.preset);
  // A name that isn't UTF-8 gets replacement characters instead of an exception.
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace atl
