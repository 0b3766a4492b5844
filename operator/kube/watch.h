// Changes of a resource's objects as they happen: one line of JSON each, on a stream without end.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "operator/kube/api_error.h"
#include "operator/kube/json_cut.h"
#include "operator/kube/transport.h"

namespace atl::kube {

struct WatchEvent {
  enum class Kind {
    kAdded,
    kModified,
    kDeleted,
    kBookmark,  // an object with nothing but the version up to which everything has been sent
    kExpired,  // 410: the version asked for is forgotten, list anew; said by status or by an event, all the same
    kError,  // any other refusal
  };
  Kind kind;
  std::string object;  // its JSON; "" for the last two
  ApiError error;      // of the last two
};

/// One watch. After kExpired or kError nothing more comes. Used by one thread, except cancel().
class Watch {
 public:
  explicit Watch(std::unique_ptr<Stream> stream);

  /// The server sends no events: the first, and only, one says why.
  bool is_refused() const { return stream_->head().status != 200; }
  /// Waits at most `idle` for the next event; none: the server has ended the watch in good order, resume it. Throws
  /// TransportError; after kTimeout the watch goes on.
  std::optional<WatchEvent> next(Milliseconds idle);
  /// From any thread: next() throws kCancelled.
  void cancel() { stream_->cancel(); }

 private:
  WatchEvent refusal(ApiError error);

  const std::unique_ptr<Stream> stream_;
  LineCutter lines_;
  std::string line_;
  bool is_over_ = false;
};

}  // namespace atl::kube
