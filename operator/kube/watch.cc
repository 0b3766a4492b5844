#include "operator/kube/watch.h"

#include <chrono>

namespace atl::kube {
namespace {

// etcd takes objects of 1.5 MiB.
constexpr std::size_t kLargestEvent = 8 << 20;

std::optional<WatchEvent::Kind> kind_of(std::string_view type) {
  using Kind = WatchEvent::Kind;
  if (type == "\"ADDED\"") return Kind::kAdded;
  if (type == "\"MODIFIED\"") return Kind::kModified;
  if (type == "\"DELETED\"") return Kind::kDeleted;
  if (type == "\"BOOKMARK\"") return Kind::kBookmark;
  if (type == "\"ERROR\"") return Kind::kError;
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

}  // namespace atl::kube
