#include "operator/kube/expectations.h"

namespace atl::kube {

void Expectations::expect(const std::string& owner, const std::string& name) {
  std::lock_guard lock(mutex_);
  Outstanding& outstanding = owners_[owner];
  outstanding.names.insert(name);
  outstanding.since = clock_.now();
}

void Expectations::seen(const std::string& owner, const std::string& name) {
  std::lock_guard lock(mutex_);
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return;
  found->second.names.erase(name);
  if (found->second.names.empty()) owners_.erase(found);
}

bool Expectations::are_met(const std::string& owner) {
  std::lock_guard lock(mutex_);
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return true;
  if (clock_.now() - found->second.since < patience_) return false;
  owners_.erase(found);
  return true;
}

void Expectations::forget(const std::string& owner) {
  std::lock_guard lock(mutex_);
  owners_.erase(owner);
}

std::size_t Expectations::size() const {
  std::lock_guard lock(mutex_);
  return owners_.size();
}

}  // namespace atl::kube
