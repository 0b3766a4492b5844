#include "operator/kube/reflector.h"

namespace atl::kube {
namespace {

// A watch that ends sooner, with nothing said, is a server in trouble: resuming at once would only add to it.
constexpr Milliseconds kShortWatch{1000};
// A resource that isn't there now may be installed one day.
constexpr Milliseconds kLookAgain{30'000};

}  // namespace

Reflector::Reflector(Client& client, Store& store, ReflectorOptions options, Clock& clock)
    : client_(client),
      store_(store),
      options_(std::move(options)),
      clock_(clock),
      backoff_(options_.backoff) {}

void Reflector::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Next next{false};
    try {
      next = version_.empty() ? list() : watch();
    } catch (const TransportError& error) {
      if (error.kind() == TransportError::Kind::kCancelled) return;
    }
    if (!next.is_good) clock_.sleep(std::max(backoff_.next(), next.at_least), stop);
  }
}

Reflector::Next Reflector::list() {
  store_.begin_list();
  const Listing listing = client_.list(options_.path, {options_.only, options_.page, list_version_},
                                       [this](std::string_view object) { store_.put(object); });
  if (listing.error && listing.error->is_not_found() && options_.may_be_absent) {
    store_.end_list();
    is_absent_ = true;
    return {false, kLookAgain};
  }
  if (listing.error) {
    list_version_.clear();  // the server may have forgotten it, or not reached it yet
    return {false, listing.error->retry_after};
  }
  store_.end_list();
  version_ = list_version_ = listing.version;
  ++lists_;
  return {true};
}

Reflector::Next Reflector::watch() {
  const auto begun = clock_.now();
  const auto watch = client_.watch(options_.path, {options_.only, version_, lifetime()});
  bool has_spoken = false;
  try {
    while (const auto event = watch->next(options_.quiet)) {
      const Next next = take(*event);
      if (!next.is_good) return next;
      if (version_.empty()) return {has_spoken};  // one that is always forgotten at once waits
      has_spoken = true;
      backoff_.reset();
    }
  } catch (const TransportError& error) {
    if (error.kind() == TransportError::Kind::kCancelled) throw;
    return {has_spoken};
  }
  return {has_spoken || clock_.now() - begun >= kShortWatch};
}

Reflector::Next Reflector::take(const WatchEvent& event) {
  switch (event.kind) {
    case WatchEvent::Kind::kAdded:
    case WatchEvent::Kind::kModified:
      store_.put(event.object);
      break;
    case WatchEvent::Kind::kDeleted:
      store_.remove(event.object);
      break;
    case WatchEvent::Kind::kBookmark:
      break;
    case WatchEvent::Kind::kExpired:
      version_.clear();
      return {true};
    case WatchEvent::Kind::kError:
      return {false, event.error.retry_after};
  }
  version_ = list_version_ = object_key(event.object).version;
  return {true};
}

std::chrono::seconds Reflector::lifetime() {
  // At random, so that the watches of many don't end together.
  std::uniform_int_distribution<std::chrono::seconds::rep> more(0, options_.lifetime.count());
  return options_.lifetime + std::chrono::seconds(more(random_));
}

}  // namespace atl::kube
