// Compares the data set that a model was trained on with another one.
#include "train/results.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "train/part_data.h"

namespace atl {
namespace {

constexpr const char* kFeaturesMade = "features: ";  // a transform that made features begins with this

std::string made_text(const std::string& features_made) {
  return features_made.empty() ? "not scaled" : features_made;
}

}  // namespace

TrainedOn trained_on(const DatasetMeta& dataset, const Job& job) {
  TrainedOn trained{dataset.name,
                    dataset.features,
                    dataset.classes,
                    "",
                    kept_form(job, dataset) != FeatureForm::kDense,
                    dataset.symmetric || job.dataset.symmetrise};
  for (const std::string& transform : dataset.transforms)
    if (transform.starts_with(kFeaturesMade))
      trained.features_made = transform.substr(std::string(kFeaturesMade).size());
  return trained;
}

void put(const TrainedOn& trained, Metadata& metadata) {
  metadata["atoll.trainedOn"] = trained.name;
  metadata["atoll.features"] = std::to_string(trained.features);
  metadata["atoll.classes"] = std::to_string(trained.classes);
  metadata["atoll.featuresMade"] = trained.features_made;
  metadata["atoll.packed"] = trained.packed ? "true" : "false";
  metadata["atoll.symmetric"] = trained.symmetric ? "true" : "false";
}

TrainedOn read_trained_on(const SafetensorsFile& model) {
  const auto text = [&](const char* key) {
    const auto found = model.metadata().find(key);
    if (found == model.metadata().end())
      fail(
          "{}: doesn't say what it was trained on ({} is missing in its metadata); train it again, with --fresh",
          model.path().string(), key);
    return found->second;
  };
  const auto count = [&](const char* key) {
    const std::string digits = text(key);
    const bool whole = !digits.empty() && digits.size() < 10 &&
                       std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (!whole)
      fail("{}: {} in its metadata is '{}', not a number; train it again, with --fresh",
           model.path().string(), key, digits);
    return Index(std::stol(digits));
  };
  return {text("atoll.trainedOn"),    count("atoll.features"),        count("atoll.classes"),
          text("atoll.featuresMade"), text("atoll.packed") == "true", text("atoll.symmetric") == "true"};
}

std::vector<std::string> differences(const TrainedOn& trained, const TrainedOn& other) {
  if (other.features != trained.features)
    fail(
        "{}: has {} features per vertex, but the model reads {}, as {} has them; predict on a data set with the same features",
        other.name, other.features == 0 ? "no" : count_text(other.features), count_text(trained.features),
        trained.name);
  std::vector<std::string> lines;
  if (other.features_made != trained.features_made)
    lines.push_back(fmt::format(
        "{}: its features ({}) aren't scaled as those that the model was trained on ({}); import both "
        "with the same --scale-features",
        other.name, made_text(other.features_made), made_text(trained.features_made)));
  if (other.symmetric != trained.symmetric)
    lines.push_back(fmt::format(
        "{}: its arcs go {}, but the model was trained on arcs that go {}; import both alike", other.name,
        other.symmetric ? "both ways" : "one way", trained.symmetric ? "both ways" : "one way"));
  return lines;
}

}  // namespace atl
