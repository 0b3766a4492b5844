#include "operator/kube/reflector.h"

#include <exception>

namespace atl::kube {
namespace {

// A watch that ends sooner without a reason shows that the server is in trouble. Resuming it at once would
// add to that.
constexpr Milliseconds kShortWatch{1000};
// A resource that doesn't exist now may be installed later.
constexpr Milliseconds kLookAgain{30'000};
constexpr Clock::Time kInTouch = Clock::Time::max();

/// Why a list was refused. If the server doesn't know the resource, its own words say only that there is no
/// such page.
std::string problem_of(const ApiError& error) {
  if (!error.is_not_found()) return error.text();
  return "404: the API server doesn't serve this resource in this version; install its CustomResourceDefinition";
}

}  // namespace

Reflector::Reflector(Client& client, Store& store, ReflectorOptions options, Clock& clock)
    : client_(client),
      store_(store),
      options_(std::move(options)),
      clock_(clock),
      backoff_(options_.backoff),
      silent_since_(clock.now()) {}

void Reflector::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Next next{false};
    try {
      next = version_.empty() ? list() : watch();
    } catch (const TransportError& error) {
      // A connection that ends while we stop doesn't mean that the server is in trouble.
      if (error.kind() == TransportError::Kind::kCancelled || stop.stop_requested()) return;
      lose_touch(error.what());
    } catch (const std::exception& error) {
      // The answer can't be read. The exception is caught here, because in this thread it would end the
      // operator.
      lose_touch(error.what());
    }
    if (!next.is_good) clock_.sleep(std::max(backoff_.next(), next.at_least), stop);
  }
}

Reflector::Next Reflector::list() {
  store_.begin_list();
  const Listing listing = client_.list(options_.path, {options_.only, options_.page, list_version_},
                                       [this](std::string_view object) { tell(&Store::put, object); });
  if (listing.error && listing.error->is_not_found() && options_.may_be_absent) {
    store_.end_list();
    is_absent_ = true;
    find_touch();
    return {false, kLookAgain};
  }
  if (listing.error) {
    lose_touch(problem_of(*listing.error));
    list_version_.clear();  // the server may have forgotten it, or not reached it yet
    return {false, listing.error->retry_after};
  }
  store_.end_list();
  version_ = list_version_ = listing.version;
  ++lists_;
  find_touch();
  return {true};
}

Reflector::Next Reflector::watch() {
  const auto begun = clock_.now();
  const auto watch = client_.watch(options_.path, {options_.only, version_, lifetime()});
  if (!watch->is_refused()) find_touch();
  bool has_spoken = false;
  try {
    while (const auto event = watch->next(options_.quiet)) {
      const Next next = take(*event);
      if (!next.is_good) return next;
      if (version_.empty()) return {has_spoken};  // wait, unless an event came before
      has_spoken = true;
      backoff_.reset();
    }
  } catch (const TransportError& error) {
    if (error.kind() == TransportError::Kind::kCancelled) throw;
    lose_touch(error.what());
    return {has_spoken};
  }
  return {has_spoken || clock_.now() - begun >= kShortWatch};
}

Reflector::Next Reflector::take(const WatchEvent& event) {
  switch (event.kind) {
    case WatchEvent::Kind::kAdded:
    case WatchEvent::Kind::kModified:
      tell(&Store::put, event.object);
      break;
    case WatchEvent::Kind::kDeleted:
      tell(&Store::remove, event.object);
      break;
    case WatchEvent::Kind::kBookmark:
      break;
    case WatchEvent::Kind::kExpired:
      version_.clear();
      return {true};
    case WatchEvent::Kind::kError:
      lose_touch(event.error.text());
      return {false, event.error.retry_after};
  }
  version_ = list_version_ = object_key(event.object).version;
  return {true};
}

void Reflector::tell(void (Store::*how)(std::string_view), std::string_view object) {
  if (silent_since_.load() != kInTouch) silent_since_ = clock_.now();  // a long list isn't silence
  try {
    (store_.*how)(object);
  } catch (const std::exception& error) {
    options_.on_unreadable(object_key(object).name, error.what());
  }
}

void Reflector::find_touch() {
  silent_since_ = kInTouch;
}

void Reflector::lose_touch(const std::string& why) {
  if (silent_since_.load() == kInTouch) silent_since_ = clock_.now();
  std::lock_guard lock(mutex_);
  problem_ = why;
}

Milliseconds Reflector::out_of_touch() const {
  const auto since = silent_since_.load();
  return since == kInTouch ? Milliseconds(0) : std::chrono::duration_cast<Milliseconds>(clock_.now() - since);
}

std::string Reflector::problem() const {
  std::lock_guard lock(mutex_);
  return problem_;
}

std::chrono::seconds Reflector::lifetime() {
  // The lifetime is random, so that many watches don't end together.
  std::uniform_int_distribution<std::chrono::seconds::rep> more(0, options_.lifetime.count());
  return options_.lifetime + std::chrono::seconds(more(random_));
}

}  // namespace atl::kube
