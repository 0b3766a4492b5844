// The memory announced before a graph is prepared suffices, and isn't so high that nobody would try.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/memory.h"
#include "partition/prepared_graph.h"
#include "partition/sample_dataset.h"

namespace atl {
namespace {

/// The most anonymous memory beyond what there was at first, looked at a thousand times a second.
class Observer {
 public:
  std::int64_t stop() {
    done_ = true;
    thread_.join();
    return most_ - before_;
  }

 private:
  void watch() {
    for (; !done_; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
      most_ = std::max(most_, process_memory().anonymous_bytes);
  }

  const std::int64_t before_ = process_memory().anonymous_bytes;
  std::int64_t most_ = before_;
  std::atomic<bool> done_ = false;
  std::thread thread_{[this] { watch(); }};
};

struct Case {
  const char* name;
  const char* kind;
  bool by_id;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}
class PreparedMemory : public testing::TestWithParam<Case> {};

TEST_P(PreparedMemory, StaysBelowWhatIsAnnounced) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's own memory counts as the process's";
#endif
  return_freed_memory();
  TemporaryFolder folder;
  const Dataset dataset = sample_dataset(folder.path() / "sample", {30'000, 1'200'000, 1, false});
  const PartitionOptions options{GetParam().kind, 4};
  const GraphTransforms transforms{true, GraphTransforms::SelfLoops::kAdd, false, GetParam().by_id};
  std::int64_t announced = 0;
  Observer observer;
  PreparedGraph::make(dataset, options, transforms, training_marks(dataset),
                      [&](Index bytes) { announced = bytes; });
  const std::int64_t used = observer.stop();
  EXPECT_LE(used, announced);
  EXPECT_LE(announced, 4 * used);
  int again = 0;
  PreparedGraph::make(dataset, options, transforms, training_marks(dataset), [&](Index) { ++again; });
  EXPECT_EQ(again, 0) << "nothing is announced where nothing is made";
}

INSTANTIATE_TEST_SUITE_P(Partitioners, PreparedMemory,
                         testing::Values(Case{"metis", "metis", false}, Case{"hash", "hash", false},
                                         Case{"by_id", "hash", true}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace atl
