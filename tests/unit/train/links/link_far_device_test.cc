// Link prediction on a device whose memory the host can't reach gives the host's bits.
#include "train/every_model.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

TEST(LinksOnAFarDevice, TrainAlikeUnderEveryKindOfSchedule) {
  test::FarDevice device;
  TemporaryFolder folder;
  const std::vector<SmallCase> models = every_link_model();
  const std::string batches = "fanout: [2, 2, 2], batchSize: 31";
  unsigned seed = 1;
  for (const SmallCase& c : {models[0], models[1]}) {
    write_small_data(folder / c.name, c.data);
    for (const std::string& strategy :
         {std::string("graph"), std::string("pipegcn"), "minibatch, minibatch: {" + batches + "}",
          "p3, p3: {" + batches + ", delay: 3}"}) {
      SCOPED_TRACE(c.name + ", " + strategy);
      const Job job = link_job(c, 3, {"strategy={kind: " + strategy + "}"});
      const SmallResult near = train_small(job, folder / c.name, 3, 3);
      expect_same_bits(train_far(job, folder / c.name, seed += 10, 3), near);
    }
  }
}

}  // namespace
}  // namespace atl
