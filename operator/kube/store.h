// Where a Reflector puts what it hears of a resource's objects.
#pragma once

#include <string_view>

namespace atl::kube {

/// Called by one thread. Texts are the objects' JSON, lent for the call; an object may come twice, and unchanged. Of one that
/// can't be read put() throws, and what is known of it stays.
class Store {
 public:
  virtual ~Store() = default;
  virtual void put(std::string_view object) = 0;
  virtual void remove(std::string_view object) = 0;
  /// What is put from here to end_list() is all that there is: the rest was deleted unseen. A list that fails is
  /// begun again.
  virtual void begin_list() = 0;
  virtual void end_list() = 0;
};

}  // namespace atl::kube
