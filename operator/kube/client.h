// The verbs of the Kubernetes API on its paths (transport.h). A refusal is returned as a value (ApiError); a
// missing answer is thrown as a TransportError. Requests that may safely be repeated are repeated a few
// times.
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
  /// Whether a policy, a webhook or a quota refuses the request, or a webhook can't be reached. The code
  /// doesn't tell: webhooks refuse with any code, and policies by default with that of an invalid object
  /// (422). So the message is searched for the API server's own words around the quoted names, which no
  /// object's name contains.
  bool is_of_admission() const {
    return message.find("webhook \"") != message.npos || message.find("\" is forbidden: ") != message.npos;
  }
  /// "409 AlreadyExists: pods \"a\" already exists"
  std::string text() const;
};

/// The refusal in an answer that is no success. A body that isn't a Status (a proxy's page, or half a Status)
/// becomes the message.
ApiError api_error(const Response& response);

/// The refusal in a Status object that came as an event.
ApiError api_error(const std::string& status);

// Changes of a resource's objects as they happen. They come as lines of JSON, on a stream without end.

struct WatchEvent {
  enum class Kind {
    kAdded,
    kModified,
    kDeleted,
    kBookmark,  // an object with only the version up to which all was sent
    // 410, by status or by event: the server has forgotten the requested version; list again
    kExpired,
    kError,  // any other refusal
  };
  Kind kind;
  std::string object;  // its JSON; "" for kExpired and kError
  ApiError error;      // for kExpired and kError
};

/// One watch. After kExpired or kError no more events come. One thread uses it, but any thread may call
/// cancel().
class Watch {
 public:
  explicit Watch(std::unique_ptr<Stream> stream);

  /// Whether the server refused the watch. Its only event then says why.
  bool is_refused() const { return stream_->head().status != 200; }
  /// Waits at most `idle` for the next event. Nothing if the server has ended the watch in good order; the
  /// caller should then resume it. Throws TransportError; after kTimeout the watch goes on.
  std::optional<WatchEvent> next(Milliseconds idle);
  /// Makes next() throw kCancelled. Any thread may call it.
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
  std::string object;  // JSON; "" if there is an error

  explicit operator bool() const { return !error; }
};

struct Selection {
  std::string labels, fields;  // "atoll.dev/job=a,tier!=b", "spec.nodeName!="
};

struct ListOptions {
  Selection only;
  int page = 500;       // objects per answer
  std::string version;  // "0": any that the server has cached; "": the latest
};

struct Listing {
  std::optional<ApiError> error;  // 410: the list has changed too much since it began; begin again
  std::string version;            // the version from which to watch
};

struct WatchOptions {
  Selection only;
  std::string version;                 // that of the list, the last event or the last bookmark
  std::chrono::seconds lifetime{300};  // the server ends the watch in good order after this time
};

struct CreateOptions {
  bool dry_run = false;
  bool is_strict = false;  // refuse unknown and repeated fields
};

enum class PatchKind { kJson, kMerge, kApply };

struct PatchOptions {
  PatchKind kind = PatchKind::kMerge;
  std::string manager;  // the owner of the fields; kApply needs one
  bool force = false;   // kApply: take fields over from other managers
  bool dry_run = false;
};

struct DeleteOptions {
  std::string uid;                   // deletes only this object, not a later one of the same name
  std::optional<int> grace_seconds;  // 0: at once
  bool in_background = true;         // its dependents are deleted after the object, not before
};

struct RetryRule {
  int times = 4;
  BackoffRule backoff{Milliseconds(100), Milliseconds(5000)};
  Milliseconds longest{30'000};  // longest Retry-After that is obeyed
  // If Retry-After is longer than this, the caller gets the refusal at once, and can wait in its own way.
  Milliseconds patience = Milliseconds::max();
};

/// Thread-safe.
class Client {
 public:
  /// `stop` ends every wait and request (kCancelled). The transport and the clock must outlive the client.
  explicit Client(Transport& transport, std::stop_token stop = {}, RetryRule retry = {},
                  Clock& clock = steady_clock())
      : transport_(transport), stop_(std::move(stop)), retry_(retry), clock_(clock) {}

  Answer get(const std::string& path);
  Answer create(const std::string& path, const std::string& object, const CreateOptions& options = {});
  /// Replaces the whole object. It must have the resourceVersion that was read: the server answers 409 if
  /// somebody else has changed the object since.
  Answer replace(const std::string& path, const std::string& object);
  Answer patch(const std::string& path, const std::string& patch, const PatchOptions& options);
  Answer remove(const std::string& path, const DeleteOptions& options = {});

  /// Calls `on_item` for every object as soon as it has arrived, page by page. If a page fails in the middle,
  /// its items come again.
  Listing list(const std::string& path, const ListOptions& options,
               const std::function<void(std::string_view object)>& on_item);
  /// Watches with bookmarks. A refusal is the first event of the watch.
  std::unique_ptr<Watch> watch(const std::string& path, const WatchOptions& options);

 private:
  enum class Repeat { kAlways, kIfUnseen };  // unseen: the server can't have acted on the request
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
