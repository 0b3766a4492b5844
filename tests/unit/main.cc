// The main function of every test program. As for scripts, exit status 77 says that a test was skipped and
// none passed or failed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  testing::InitGoogleMock(&argc, argv);
  const int status = RUN_ALL_TESTS();
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  const bool only_skipped = all.skipped_test_count() > 0 && all.successful_test_count() == 0;
  return status == 0 && only_skipped ? kSkipped : status;
}
