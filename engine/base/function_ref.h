// A reference to something callable, for arguments that are called only during the call. It takes two words
// and allocates nothing, unlike std::function, so the step loop can pass lambdas with any capture.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace atl {

template <class Signature>
class FunctionRef;

/// Valid as long as the callable it was made from.
template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class Callable, class = std::enable_if_t<!std::is_same_v<std::decay_t<Callable>, FunctionRef>>>
  FunctionRef(Callable&& callable)  // NOLINT: implicit by intent
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* object, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<Callable>*>(object))(std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  Result (*call_)(void*, Args...);
};

}  // namespace atl
