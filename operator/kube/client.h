// The Kubernetes API's verbs on its paths (transport.h). A refusal is a value (ApiError); a missing answer is
// a TransportError. Requests that may safely be repeated are repeated a few times.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "operator/kube/clock.h"
#include "operator/kube/json_cut.h"
#include "operator/kube/transport.h"

namespace atl::kube {

// A refusal of the API server. It is a value, because refusals are part of the protocol.

struct ApiError {
  int code = 0;                 // 409
  std::string reason, message;  // "AlreadyExists", "pods \"a\" already exists"
  Milliseconds retry_after{0};  // 0: the server doesn't say

  bool is_not_found() const { return code == 404; }
  bool is_conflict() const { return code == 409 && reason != "AlreadyExists"; }
  bool already_exists() const { return code == 409 && reason == "AlreadyExists"; }
  bool is_expired() const { return code == 410; }
  /// Whether a policy, a webhook or a quota refuses, or a webhook can't be asked. The code doesn't tell:
  /// webhooks refuse with any, and policies, unless told otherwise, with that of an invalid object (422). The
  /// words around the quoted names are the API server's own, and no object's name has them.
  bool is_of_admission() const {
    return message.find("webhook \"") != message.npos || message.find("\" is forbidden: ") != message.npos;
  }
  /// "409 AlreadyExists: pods \"a\" already exists"
  std::string text() const;
};

/// From an answer that is no success. Bodies that aren't a Status (a proxy's, or half of one) become the
/// message.
ApiError api_error(const Response& response);

/// From a Status object that came as an event.
ApiError api_error(const std::string& status);

// Changes of a resource's objects as they happen: one line of JSON each, on a stream without end.

struct WatchEvent {
  enum class Kind {
    kAdded,
    kModified,
    kDeleted,
    kBookmark,  // an object that has only the version up to which everything has been sent
    // 410, by status or by event: the server has forgotten the requested version; list again
    kExpired,
    kError,  // any other refusal
  };
  Kind kind;
  std::string object;  // its JSON; "" for kExpired and kError
  ApiError error;      // of kExpired and kError
};

/// One watch. After kExpired or kError nothing more comes. Used by one thread, except cancel().
class Watch {
 public:
  explicit Watch(std::unique_ptr<Stream> stream);

  /// Whether the server sends no events; the only one then says why.
  bool is_refused() const { return stream_->head().status != 200; }
  /// Waits at most `idle` for the next event; none: the server has ended the watch in good order, so resume
  /// it. Throws TransportError; after kTimeout the watch goes on.
  std::optional<WatchEvent> next(Milliseconds idle);
  /// From any thread: makes next() throw kCancelled.
  void cancel() { stream_->cancel(); }

 private:
  WatchEvent refusal(ApiError error);

  const std::unique_ptr<Stream> stream_;
  LineCutter lines_;
  std::string line_;
  bool is_over_ = false;
};

struct Answer {
  std::optional<ApiError> error;
  std::string object;  // JSON; "" where there is an error

  explicit operator bool() const { return !error; }
};

struct Selection {
  std::string labels, fields;  // "atoll.dev/job=a,tier!=b", "spec.nodeName!="
};

struct ListOptions {
  Selection only;
  int page = 500;       // objects per answer
  std::string version;  // "0": any that the server has at hand; "": the latest
};

struct Listing {
  std::optional<ApiError> error;  // 410: the list changed too much meanwhile; begin again
  std::string version;            // to watch from
};

struct WatchOptions {
  Selection only;
  std::string version;                 // of the list, the last event or the last bookmark
  std::chrono::seconds lifetime{300};  // after which the server ends the watch in good order
};

struct CreateOptions {
  bool dry_run = false;
  bool is_strict = false;  // refuse unknown and repeated fields
};

enum class PatchKind { kJson, kMerge, kApply };

struct PatchOptions {
  PatchKind kind = PatchKind::kMerge;
  std::string manager;  // owner of the fields; kApply needs one
  bool force = false;   // kApply: take fields over from other managers
  bool dry_run = false;
};

struct DeleteOptions {
  std::string uid;                   // delete only this object, none of the same name that came later
  std::optional<int> grace_seconds;  // 0: at once
  bool in_background = true;         // objects that it owns are deleted after it, not before
};

struct RetryRule {
  int times = 4;
  BackoffRule backoff{Milliseconds(100), Milliseconds(5000)};
  Milliseconds longest{30'000};  // of Retry-After
  // who is asked by Retry-After to wait longer gets the refusal at once, and waits in its own way
  Milliseconds patience = Milliseconds::max();
};

/// May be called from any number of threads.
class Client {
 public:
  /// `stop` ends every wait and request (kCancelled). Transport and clock must outlive the client.
  explicit Client(Transport& transport, std::stop_token stop = {}, RetryRule retry = {},
                  Clock& clock = steady_clock())
      : transport_(transport), stop_(std::move(stop)), retry_(retry), clock_(clock) {}

  Answer get(const std::string& path);
  Answer create(const std::string& path, const std::string& object, const CreateOptions& options = {});
  /// Replaces the whole object, whose resourceVersion is as it was read: 409 where somebody was faster.
  Answer replace(const std::string& path, const std::string& object);
  Answer patch(const std::string& path, const std::string& patch, const PatchOptions& options);
  Answer remove(const std::string& path, const DeleteOptions& options = {});

  /// Calls `on_item` for every object, as soon as it has arrived, page by page. After a failure within a
  /// page, its items come again.
  Listing list(const std::string& path, const ListOptions& options,
               const std::function<void(std::string_view object)>& on_item);
  /// Asks for bookmarks. A refusal is the watch's first event.
  std::unique_ptr<Watch> watch(const std::string& path, const WatchOptions& options);

 private:
  enum class Repeat {
    kAlways,
    kIfUnseen
  };  // unseen: the server has not acted on it, and says so or was not reached
  Answer send(Request request, Repeat repeat);
  template <class Attempt>
  auto retried(Repeat repeat, Attempt attempt);

  Transport& transport_;
  const std::stop_token stop_;
  const RetryRule retry_;
  Clock& clock_;
};

/// The path of an object's status.
inline std::string status_path(const std::string& path) {
  return path + "/status";
}

}  // namespace atl::kube
