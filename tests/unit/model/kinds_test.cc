// The table of models that manifests know and the table of those that the engine makes are the same.
#include "model/kinds.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "job/models.h"

namespace atl {
namespace {

TEST(ModelKinds, AreThoseOfTheManifest) {
  std::vector<std::string> made, named;
  for (const auto each : kModelKinds) made.emplace_back(each().kind);
  for (const ModelInfo& info : model_infos()) named.push_back(info.kind);
  EXPECT_EQ(made, named)
      << "engine/model/kinds.h and engine/job/models/kinds.h list different models, or in another order";
}

}  // namespace
}  // namespace atl
