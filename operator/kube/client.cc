#include "operator/kube/client.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/json.h"
#include "operator/kube/json_cut.h"
#include "operator/kube/transport.h"

namespace atl::kube {
namespace {

using nlohmann::json;
using Kind = TransportError::Kind;

constexpr char kJson[] = "application/json";
constexpr std::size_t kLargestObject = 8 << 20;  // etcd accepts 1.5 MiB
constexpr Milliseconds kQuietPage{20'000};       // longest silence within a page

const char* content_type(PatchKind kind) {
  switch (kind) {
    case PatchKind::kJson:
      return "application/json-patch+json";
    case PatchKind::kMerge:
      return "application/merge-patch+json";
    case PatchKind::kApply:
      return "application/apply-patch+yaml";
  }
  return "";
}

Request request_of(const char* method, std::string target, std::string body, const char* type = kJson) {
  Request request;
  request.method = method;
  request.target = std::move(target);
  request.headers = {{"Accept", kJson}};
  if (!body.empty()) request.headers.emplace_back("Content-Type", type);
  request.body = std::move(body);
  return request;
}

void select(std::string& target, const Selection& only) {
  add_query(target, "labelSelector", only.labels);
  add_query(target, "fieldSelector", only.fields);
}

std::string delete_options(const DeleteOptions& options) {
  json body = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  body["propagationPolicy"] = options.in_background ? "Background" : "Foreground";
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (options.grace_seconds) body["gracePeriodSeconds"] = *options.grace_seconds;
  return body.dump();
}

/// One page of a list, or why it was refused.
struct Page {
  std::optional<ApiError> error;
  std::string version, next;
};

Page read_page(Stream& stream, const ItemCutter::OnItem& on_item) {
  if (stream.head().status != 200) return {api_error(collect(stream, Limits().body, kQuietPage)), {}, {}};
  ItemCutter cutter(on_item, kLargestObject);
  char part[64 << 10];
  while (const std::size_t size = stream.read(part, sizeof part, kQuietPage)) cutter.feed({part, size});
  const json envelope = json_or_discarded(cutter.envelope());
  const json metadata = envelope.is_object() ? envelope.value("metadata", json()) : json();
  if (!cutter.is_whole() || !metadata.is_object())
    throw TransportError(Kind::kBroken, "a list is not whole: " + cutter.envelope().substr(0, 200));
  return {std::nullopt, metadata.value("resourceVersion", ""), metadata.value("continue", "")};
}

bool is_refusal_for_now(int status) {
  return status == 429 || status == 500 || (status >= 502 && status <= 504);
}

}  // namespace

/// Runs `attempt`, which returns a value with an `error`. If the server refused for now, or never
/// got the request, runs it again after a wait. With kAlways, it also does so if the connection broke. The
/// server may name the wait.
template <class Attempt>
auto Client::retried(Repeat repeat, Attempt attempt) {
  Backoff backoff(retry_.backoff);
  for (int tries = 0;; ++tries) {
    const bool is_last = tries == retry_.times;
    Milliseconds asked{0};
    try {
      auto result = attempt();
      if (!result.error || is_last || !is_refusal_for_now(result.error->code)) return result;
      if (repeat != Repeat::kAlways && result.error->code != 429) return result;
      if (result.error->retry_after > retry_.patience) return result;
      asked = std::min(result.error->retry_after, retry_.longest);
    } catch (const TransportError& error) {
      const bool is_unseen = error.kind() == Kind::kConnect;
      const bool may_repeat = is_unseen || (error.kind() == Kind::kBroken && repeat == Repeat::kAlways);
      if (is_last || !may_repeat) throw;
    }
    if (!clock_.sleep(std::max(asked, backoff.next()), stop_))
      throw TransportError(Kind::kCancelled, "given up while waiting to try again");
  }
}

Answer Client::send(Request request, Repeat repeat) {
  request.stop = stop_;
  return retried(repeat, [&]() -> Answer {
    if (stop_.stop_requested()) throw TransportError(Kind::kCancelled, "given up before it was sent");
    Response response = transport_.call(request);
    if (response.head.status / 100 != 2) return {api_error(response), {}};
    return {std::nullopt, std::move(response.body)};
  });
}

Answer Client::get(const std::string& path) {
  return send(request_of("GET", path, ""), Repeat::kAlways);
}

Answer Client::create(const std::string& path, const std::string& object, const CreateOptions& options) {
  std::string target = path;
  add_query(target, "dryRun", options.dry_run ? "All" : "");
  add_query(target, "fieldValidation", options.is_strict ? "Strict" : "");
  return send(request_of("POST", target, object), Repeat::kIfUnseen);
}

Answer Client::replace(const std::string& path, const std::string& object) {
  return send(request_of("PUT", path, object), Repeat::kIfUnseen);
}

Answer Client::patch(const std::string& path, const std::string& patch, const PatchOptions& options) {
  std::string target = path;
  add_query(target, "fieldManager", options.manager);
  add_query(target, "force", options.force ? "true" : "");
  add_query(target, "dryRun", options.dry_run ? "All" : "");
  const bool is_same_again = options.kind != PatchKind::kJson;  // a JSON patch may test and append
  return send(request_of("PATCH", target, patch, content_type(options.kind)),
              is_same_again ? Repeat::kAlways : Repeat::kIfUnseen);
}

Answer Client::remove(const std::string& path, const DeleteOptions& options) {
  // With a UID, a second try can't delete another object. If the first try worked, the second may get 404 or
  // 409, which also shows that the object is gone.
  return send(request_of("DELETE", path, delete_options(options)),
              options.uid.empty() ? Repeat::kIfUnseen : Repeat::kAlways);
}

Listing Client::list(const std::string& path, const ListOptions& options,
                     const std::function<void(std::string_view)>& on_item) {
  for (std::string next;;) {
    std::string target = path;
    select(target, options.only);
    add_query(target, "limit", std::to_string(options.page));
    if (next.empty()) {
      add_query(target, "resourceVersion", options.version);
      // Without this, a query with a limit would list the state of exactly that version, and the server would
      // refuse to watch from it.
      if (!options.version.empty()) add_query(target, "resourceVersionMatch", "NotOlderThan");
    }
    add_query(target, "continue", next);
    Request request = request_of("GET", target, "");
    request.stop = stop_;
    Page page = retried(Repeat::kAlways, [&] { return read_page(*transport_.open(request), on_item); });
    if (page.error || page.next.empty()) return {std::move(page.error), std::move(page.version)};
    next = std::move(page.next);
  }
}

std::unique_ptr<Watch> Client::watch(const std::string& path, const WatchOptions& options) {
  std::string target = path;
  select(target, options.only);
  add_query(target, "watch", "true");
  add_query(target, "allowWatchBookmarks", "true");
  add_query(target, "resourceVersion", options.version);
  add_query(target, "timeoutSeconds", std::to_string(options.lifetime.count()));
  Request request = request_of("GET", target, "");
  request.stop = stop_;
  return std::make_unique<Watch>(transport_.open(request));
}

namespace {

// The limit of an event. etcd accepts objects of 1.5 MiB.
constexpr std::size_t kLargestEvent = 8 << 20;

std::optional<WatchEvent::Kind> kind_of(std::string_view type) {
  using Event = WatchEvent::Kind;
  if (type == "\"ADDED\"") return Event::kAdded;
  if (type == "\"MODIFIED\"") return Event::kModified;
  if (type == "\"DELETED\"") return Event::kDeleted;
  if (type == "\"BOOKMARK\"") return Event::kBookmark;
  if (type == "\"ERROR\"") return Event::kError;
  return std::nullopt;
}

[[noreturn]] void broken(const std::string& why) {
  throw TransportError(TransportError::Kind::kBroken, why);
}

}  // namespace

Watch::Watch(std::unique_ptr<Stream> stream) : stream_(std::move(stream)), lines_(kLargestEvent) {}

WatchEvent Watch::refusal(ApiError error) {
  is_over_ = true;
  const auto kind = error.is_expired() ? WatchEvent::Kind::kExpired : WatchEvent::Kind::kError;
  return {kind, {}, std::move(error)};
}

std::optional<WatchEvent> Watch::next(Milliseconds idle) {
  if (is_over_) return std::nullopt;
  if (is_refused()) return refusal(api_error(collect(*stream_, Limits().body, idle)));
  while (!lines_.next(line_)) {
    char part[16 << 10];
    const std::size_t size = stream_->read(part, sizeof part, idle);
    if (size == 0) {
      is_over_ = true;
      if (lines_.has_rest()) broken("a watch ended within an event");
      return std::nullopt;
    }
    lines_.feed({part, size});
  }
  const auto kind = kind_of(member_text(line_, "type"));
  std::string object(member_text(line_, "object"));
  if (!kind || object.empty()) broken("a watch brought what is no event: " + line_.substr(0, 200));
  if (*kind == WatchEvent::Kind::kError) return refusal(api_error(object));
  return WatchEvent{*kind, std::move(object), {}};
}

namespace {

using nlohmann::json;

constexpr std::size_t kLongestMessage = 1024;

/// The object's member, or `otherwise` if the object has none of that type.
template <class T>
T value_or(const json& object, const char* name, T otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(name);
  if (found == object.end()) return otherwise;
  const bool is_fit = std::is_arithmetic_v<T> ? found->is_number_integer() : found->is_string();
  return is_fit ? found->get<T>() : otherwise;
}

Milliseconds seconds(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value > 0 ? std::chrono::seconds(value) : std::chrono::seconds(0);
}

}  // namespace

std::string ApiError::text() const {
  return fmt::format("{}{}{}: {}", code, reason.empty() ? "" : " ", reason, message);
}

ApiError api_error(const std::string& status) {
  const json object = json_or_discarded(status);
  ApiError error;
  error.code = value_or(object, "code", 0);
  error.reason = value_or(object, "reason", std::string());
  error.message = value_or(object, "message", status.substr(0, kLongestMessage));
  if (object.is_object() && object.contains("details"))
    error.retry_after = std::chrono::seconds(value_or(object["details"], "retryAfterSeconds", 0));
  return error;
}

ApiError api_error(const Response& response) {
  ApiError error = api_error(response.body);
  error.code = response.head.status;
  if (const auto asked = seconds(response.head.header("Retry-After")); asked.count() > 0)
    error.retry_after = asked;
  return error;
}

}  // namespace atl::kube
