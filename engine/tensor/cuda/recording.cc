#include "tensor/cuda/recording.h"

#include <cstring>

namespace atl::cuda {

bool Recording::same_arguments(std::size_t i, const Recording& other) const {
  const Recorded &mine = calls_[i], &theirs = other.calls_[i];
  return mine.bytes == theirs.bytes &&
         std::memcmp(bytes_.data() + mine.at, other.bytes_.data() + theirs.at, mine.bytes) == 0;
}

void* const* Recording::arguments(std::size_t i) {
  const std::size_t end = i + 1 < calls_.size() ? calls_[i + 1].first_place : places_.size();
  pointers_.clear();
  for (std::size_t place = calls_[i].first_place; place < end; ++place)
    pointers_.push_back(bytes_.data() + places_[place]);
  return pointers_.data();
}

bool same_calls(const Recording& a, const Recording& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a.call(i) != b.call(i)) return false;
  return true;
}

}  // namespace atl::cuda
