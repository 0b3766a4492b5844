// The two kinds of failure that travel by exception or abort: the world (Error) and our own bugs
// (ATOLL_CHECK). Expected outcomes are result values, not exceptions (docs/architecture.md, "Errors").
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace atl {

/// The world is not as it must be: a file, a manifest, a peer. The message is one line for a user and says
/// where (file:line or field), what was given, what is allowed and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws an Error with a formatted message: fail("{}:{}: id {} is out of range 0 … {}", path, line, id,
/// n - 1).
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

/// Ends the process with file, line, condition and message. Called by ATOLL_CHECK alone.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& message);

}  // namespace atl

/// Checks a condition that only a bug can break. If it doesn't hold, prints the values and aborts.
/// ATOLL_CHECK(a == b, "a {} b {}", a, b).
#define ATOLL_CHECK(condition, ...)                                                       \
  do {                                                                                    \
    if (!(condition)) [[unlikely]]                                                        \
      ::atl::check_failed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
  } while (false)
