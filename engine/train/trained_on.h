// What a model's file says of the data set that it was trained on, and whether its predictions on another one
// mean anything.
#pragma once

#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "job/job.h"
#include "train/checkpoint/safetensors.h"

namespace atl {

struct TrainedOn {
  std::string name;  // of the data set
  Index features = 0, classes = 0;
  std::string features_made;  // by their import, as in meta.json's transforms; "" = nothing
  bool packed = false;  // the model reads features as they are stored (kept_form), which changes its layers
  bool symmetric = false;  // every arc has its reverse
};

TrainedOn trained_on(const DatasetMeta& dataset, const Job& job);

/// To and from the metadata of model.safetensors. Throws Error where it says nothing of this.
void put(const TrainedOn& trained, Metadata& metadata);
TrainedOn read_trained_on(const SafetensorsFile& model);

/// One line for each way in which `other` differs from the data that the model was trained on, where it can
/// be read. Throws Error where it has other features.
std::vector<std::string> differences(const TrainedOn& trained, const TrainedOn& other);

}  // namespace atl
