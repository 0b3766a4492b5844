// Pages of several ranks joined to one that Prometheus accepts.
#include "telemetry/metrics_server.h"

#include <gtest/gtest.h>

#include <vector>

namespace atl {
namespace {

TEST(Exposition, AMetricIsDescribedOnceAndItsSamplesStandTogether) {
  const std::vector<std::string> pages{
      "# HELP a First.\n# TYPE a gauge\na{rank=\"0\"} 1\n# HELP b Second.\n# TYPE b counter\nb{rank=\"0\"} 2\n",
      "# HELP b Second.\n# TYPE b counter\nb{rank=\"1\"} 3\n# HELP c Third.\n# TYPE c gauge\nc 4\n",
      "# HELP a First.\n# TYPE a gauge\na{rank=\"2\"} 5\n"};
  EXPECT_EQ(join_expositions(pages),
            "# HELP a First.\n# TYPE a gauge\na{rank=\"0\"} 1\na{rank=\"2\"} 5\n"
            "# HELP b Second.\n# TYPE b counter\nb{rank=\"0\"} 2\nb{rank=\"1\"} 3\n"
            "# HELP c Third.\n# TYPE c gauge\nc 4\n");
}

TEST(Exposition, OnePageIsItself) {
  const std::vector<std::string> pages{"# HELP a First.\n# TYPE a gauge\na 1\n"};
  EXPECT_EQ(join_expositions(pages), pages[0]);
  EXPECT_EQ(join_expositions({}), "");
}

}  // namespace
}  // namespace atl
