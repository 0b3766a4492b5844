// The latest state of a resource's objects, with notice of every change. Of each object, only what T holds is
// kept.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "operator/kube/json_cut.h"

namespace atl::kube {

// The place where a Reflector puts what it hears of a resource's objects.

/// Called by one thread. The texts are the objects' JSON, and are valid only during the call. An object may
/// be put twice unchanged. If an object can't be read, put() throws, and the object's earlier state stays.
class Store {
 public:
  virtual ~Store() = default;
  virtual void put(std::string_view object) = 0;
  virtual void remove(std::string_view object) = 0;
  /// A list begins. The objects put from here until end_list() are all that exist: any others were deleted
  /// unseen. If a list fails, begin_list() is called again.
  virtual void begin_list() = 0;
  virtual void end_list() = 0;
};

/// Written by one Reflector, read by any thread. The values that it returns are never modified.
template <class T>
class Cache final : public Store {
 public:
  using Value = std::shared_ptr<const T>;
  using Read = std::function<T(std::string_view object)>;
  /// Gets an object before and after a change; null: the object wasn't there before, or is gone. It is called
  /// by the reflector's thread, after the cache has changed, and only if the version has changed. An object
  /// that was deleted and made again is reported as two changes.
  using OnChange = std::function<void(const std::string& name, const Value& before, const Value& after)>;

  Cache(Read read, OnChange on_change) : read_(std::move(read)), on_change_(std::move(on_change)) {}

  /// The object; null if it doesn't exist. `name` is as in ObjectKey.
  Value find(const std::string& name) const {
    std::shared_lock lock(mutex_);
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : found->second.value;
  }
  /// All objects at one moment, in no order.
  std::vector<Value> all() const {
    std::shared_lock lock(mutex_);
    std::vector<Value> values;
    values.reserve(entries_.size());
    for (const auto& [name, entry] : entries_) values.push_back(entry.value);
    return values;
  }
  std::size_t size() const {
    std::shared_lock lock(mutex_);
    return entries_.size();
  }

  /// Parses the object without holding the lock. The work queue asks the cache about each key while holding
  /// its own lock, so waiting for an object of a megabyte would stop all work on others.
  void put(std::string_view object) override {
    ObjectKey key = object_key(object);
    std::unique_lock lock(mutex_);
    const auto found = entries_.find(key.name);
    const bool is_known = found != entries_.end() && found->second.uid == key.uid;
    if (is_known) found->second.list = list_;
    if (is_known && found->second.version == key.version) return;
    const Value before = found == entries_.end() ? nullptr : found->second.value;
    lock.unlock();
    const auto after = std::make_shared<const T>(read_(object));  // no other thread writes
    lock.lock();
    entries_[key.name] = {after, std::move(key.uid), std::move(key.version), list_};
    lock.unlock();
    if (before && !is_known) on_change_(key.name, before, nullptr);
    on_change_(key.name, is_known ? before : nullptr, after);
  }
  void remove(std::string_view object) override { erase(object_key(object).name); }
  void begin_list() override { ++list_; }
  void end_list() override {
    std::vector<std::string> vanished;
    for (const auto& [name, entry] : entries_)  // no other thread writes
      if (entry.list != list_) vanished.push_back(name);
    for (const std::string& name : vanished) erase(name);
  }

 private:
  struct Entry {
    Value value;
    std::string uid, version;
    std::uint64_t list = 0;  // list_ when the object was last put
  };

  void erase(const std::string& name) {
    std::unique_lock lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) return;
    const Value before = found->second.value;
    entries_.erase(found);
    lock.unlock();
    on_change_(name, before, nullptr);
  }

  const Read read_;
  const OnChange on_change_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::uint64_t list_ = 0;
};

}  // namespace atl::kube
