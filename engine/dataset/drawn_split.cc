#include "dataset/drawn_split.h"

#include <cstdio>

#include "base/error.h"
#include "dataset/generate/streams.h"

namespace atl {

Split DrawnSplit::part_of(std::int64_t id) const {
  const Draws draws(seed, Purpose::kGenerator, std::uint64_t(Stream::kSplit));
  const double u = draws.uniform_at(std::uint64_t(id), 0);
  if (u < train) return Split::kTrain;
  if (u < train + validation) return Split::kValidation;
  return u < train + validation + test ? Split::kTest : Split::kNone;
}

std::string DrawnSplit::description() const {
  return fmt::format("random:{:g}/{:g}/{:g}, seed {}", 100 * train, 100 * validation, 100 * test, seed);
}

DrawnSplit parse_drawn_split(const std::string& text, std::uint64_t seed) {
  double train = 0, validation = 0, test = 0;
  char more = 0;
  const int read = std::sscanf(text.c_str(), "random:%lf/%lf/%lf%c", &train, &validation, &test, &more);
  const bool shares = train > 0 && validation >= 0 && test >= 0 && train + validation + test <= 100;
  if (read != 3 || !shares) {
    fail(
        "--split: '{}' is not allowed (use random:TRAIN/VALIDATION/TEST in percent of the labelled vertices, up to "
        "100 together: random:60/20/20)",
        text);
  }
  return {train / 100, validation / 100, test / 100, seed};
}

}  // namespace atl
