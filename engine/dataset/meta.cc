// meta.json, in which a data set's folder describes itself: printed and parsed.
#include "dataset/dataset.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"

namespace atl {
namespace {

using nlohmann::json;

constexpr int kFormat = 2;
constexpr const char* kPairFields[] = {"train", "validation", "test", "validationNegatives",
                                       "testNegatives"};       // PairSet
constexpr const char* kForms[] = {"dense", "sparse", "bits"};  // FeatureForm

/// Everything but the checksum. nlohmann's objects are sorted by key, so this is canonical.
json to_json(const DatasetMeta& meta) {
  json object = {{"atollDataset", kFormat},
                 {"name", meta.name},
                 {"vertices", meta.vertices},
                 {"arcs", meta.arcs},
                 {"features", meta.features},
                 {"featureNonzeros", meta.feature_nonzeros},
                 {"featureForm", to_string(meta.feature_form)},
                 {"classes", meta.classes},
                 {"multiLabel", meta.multi_label},
                 {"weighted", meta.weighted},
                 {"symmetric", meta.symmetric},
                 {"selfLoops", meta.self_loops},
                 {"splits", meta.splits},
                 {"transforms", meta.transforms},
                 {"checksums", meta.checksums},
                 {"source", meta.source},
                 {"licence", meta.licence}};
  if (!meta.class_names.empty()) object["classNames"] = meta.class_names;
  if (!meta.pairs.any()) return object;
  for (int s = 0; s < kPairSets; ++s) object["edgeSplit"][kPairFields[s]] = meta.pairs.of[std::size_t(s)];
  object["edgeSplit"]["supervised"] = meta.pairs.supervised;
  return object;
}

template <class T>
void read_field(const json& object, const char* key, T& out, const std::string& name) {
  const auto found = object.find(key);
  if (found == object.end()) fail("{}: the field '{}' is missing; import the data set again", name, key);
  try {
    out = found->get<T>();
  } catch (const json::exception&) {
    fail("{}: the field '{}' is {}, which is not allowed; import the data set again", name, key,
         in_quotes(found->dump()));
  }
}

json parse_object(std::string_view text, const std::string& name) {
  json object = json_or_discarded(text);
  if (!object.is_object()) fail("{}: is not a JSON object; import the data set again", name);
  if (!object.contains("atollDataset"))
    fail(
        "{}: isn't a data set's, but perhaps of a folder that is to be imported first: atoll dataset import --format npy "
        "FOLDER DST",
        name);
  int format = 0;
  read_field(object, "atollDataset", format, name);
  if (format != kFormat) {
    fail("{}: has format {}, but this build reads format {}; import the data set again with this build", name,
         format, kFormat);
  }
  return object;
}

PairCounts parse_pairs(const json& object, const std::string& name) {
  PairCounts pairs;
  for (int s = 0; s < kPairSets; ++s) read_field(object, kPairFields[s], pairs.of[std::size_t(s)], name);
  read_field(object, "supervised", pairs.supervised, name);
  constexpr Index kMost = (Index(1) << 31) - 1;
  for (const Index count : pairs.of)
    if (count < 0 || count > kMost)
      fail("{}: the field 'edgeSplit' counts {} pairs; allowed are 0 … {}: import the data set again", name,
           count, kMost);
  if (pairs.supervised < 1 || pairs.supervised > pairs.of[0])
    fail("{}: the field 'edgeSplit' has {} supervised edges of {}; import the data set again", name,
         pairs.supervised, pairs.of[0]);
  return pairs;
}

FeatureForm parse_form(const std::string& text, const std::string& name) {
  const auto* const found = std::find(std::begin(kForms), std::end(kForms), text);
  if (found == std::end(kForms))
    fail("{}: the field 'featureForm' is {}; allowed are {}: import the data set again", name,
         in_quotes(text), joined(kForms, ", "));
  return FeatureForm(found - std::begin(kForms));
}

void check_counts(const DatasetMeta& meta, const std::string& name) {
  constexpr Index kMax = Index(1) << 31;
  const auto check = [&](const char* field, Index value, Index low, Index high) {
    if (value < low || value > high) {
      fail("{}: the field '{}' is {}; allowed are {} … {}: import the data set again", name, field, value,
           low, high);
    }
  };
  check("vertices", meta.vertices, 1, kMax - 2);
  check("arcs", meta.arcs, 0, kMax * kMax);
  check("features", meta.features, 0, kMax);
  check("featureNonzeros", meta.feature_nonzeros, -1, kMax * kMax);
  check("classes", meta.classes, 0, kMostClasses);
  if (!meta.class_names.empty())
    check("classNames", Index(meta.class_names.size()), meta.classes, meta.classes);
  if (meta.feature_form != FeatureForm::kDense)
    check("featureNonzeros", meta.feature_nonzeros, 0, kMax * kMax);
  for (const auto& [split, columns] : meta.splits) check("splits", columns, 1, 1 << 16);
}

}  // namespace

const char* to_string(FeatureForm form) {
  return kForms[int(form)];
}

std::string pairs_file(PairSet set) {
  constexpr const char* kFiles[] = {"train", "validation", "test", "validation_negative", "test_negative"};
  return fmt::format("edges_{}.npy", kFiles[int(set)]);
}

std::string print_meta(DatasetMeta& meta) {
  json object = to_json(meta);
  meta.checksum = sha256_hex(object.dump(-1, ' ', false, json::error_handler_t::replace));
  object["checksum"] = meta.checksum;
  return object.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

DatasetMeta parse_meta(std::string_view text, const std::string& name) {
  json object = parse_object(text, name);
  DatasetMeta meta;
  read_field(object, "name", meta.name, name);
  read_field(object, "vertices", meta.vertices, name);
  read_field(object, "arcs", meta.arcs, name);
  read_field(object, "features", meta.features, name);
  read_field(object, "featureNonzeros", meta.feature_nonzeros, name);
  std::string form;
  read_field(object, "featureForm", form, name);
  meta.feature_form = parse_form(form, name);
  read_field(object, "classes", meta.classes, name);
  if (object.contains("edgeSplit")) meta.pairs = parse_pairs(object["edgeSplit"], name);
  if (object.contains("classNames")) read_field(object, "classNames", meta.class_names, name);
  read_field(object, "multiLabel", meta.multi_label, name);
  read_field(object, "weighted", meta.weighted, name);
  read_field(object, "symmetric", meta.symmetric, name);
  read_field(object, "selfLoops", meta.self_loops, name);
  read_field(object, "splits", meta.splits, name);
  read_field(object, "transforms", meta.transforms, name);
  read_field(object, "checksums", meta.checksums, name);
  read_field(object, "source", meta.source, name);
  read_field(object, "licence", meta.licence, name);
  read_field(object, "checksum", meta.checksum, name);
  check_counts(meta, name);
  object.erase("checksum");
  const std::string actual = sha256_hex(object.dump(-1, ' ', false, json::error_handler_t::replace));
  if (actual != meta.checksum) {
    fail("{}: is damaged (its checksum is {}, not {}); import the data set again", name, actual,
         meta.checksum);
  }
  return meta;
}

}  // namespace atl
