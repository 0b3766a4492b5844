// What is kept of objects that bear a job's name, whoever has made them.
#include "operator/objects/object_view.h"

#include <gmock/gmock.h>

#include <string>

#include "base/json.h"
#include "operator/objects/names.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(ObjectView, KeepsNothingThatAnybodyMayHaveWritten) {
  json labels = {{kJobLabel, "cora"}, {kManagedByLabel, kManager}, {kManifestLabel, "0123456789"}};
  for (int n = 0; n < 1000; ++n) labels["atoll.dev/number-" + std::to_string(n)] = "x";
  const std::string large(1 << 18, 'x');
  const json owner = {{"controller", true}, {"uid", large}};
  const ObjectView view =
      read_object(Kind::kNetworkPolicy, {{"metadata",
                                          {{"name", "mine"},
                                           {"namespace", "team"},
                                           {"labels", labels},
                                           {"annotations", {{kMadeAnnotation, large}, {"note", large}}},
                                           {"ownerReferences", json::array({owner})}}}});
  EXPECT_THAT(view.meta.labels, UnorderedElementsAre(Pair(kJobLabel, "cora"), Pair(kManagedByLabel, kManager),
                                                     Pair(kManifestLabel, "0123456789")));
  EXPECT_THAT(view.meta.annotations, IsEmpty());
  EXPECT_EQ(view.meta.owner_uid, "");
}

TEST(ObjectView, KeepsWhoseItIsAndWhenItWasMade) {
  const json owner = {{"controller", true}, {"uid", "0b5c1c0e-3b8e-4b0c-9d6a-2f7d8e9a1b2c"}};
  const ObjectView view =
      read_object(Kind::kMpiJob, {{"metadata",
                                   {{"name", "cora-1"},
                                    {"annotations", {{kMadeAnnotation, "2026-03-01T12:00:05Z"}}},
                                    {"ownerReferences", json::array({owner})}}}});
  EXPECT_EQ(view.meta.annotation(kMadeAnnotation), "2026-03-01T12:00:05Z");
  EXPECT_EQ(view.meta.owner_uid, "0b5c1c0e-3b8e-4b0c-9d6a-2f7d8e9a1b2c");
}

}  // namespace
}  // namespace atl::ctl
