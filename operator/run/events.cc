#include "operator/run/events.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/sha256.h"
#include "job/api_names.h"
#include "operator/api/json_values.h"
#include "operator/run/kinds.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestEvent = 1024, kMostLetters = 1000;
constexpr const char* kComponent = "atoll-operator";

const kube::Resource kEvents{"", "v1", "events"};

}  // namespace

bool Events::take_allowance(const std::string& uid, Moment now) {
  Allowance& allowance = allowances_.try_emplace(uid, Allowance{kBurst, now}).first->second;
  const auto earned = int((now - allowance.since) / kOneIn);
  if (earned > 0) {
    allowance.left = std::min(kBurst, allowance.left + earned);
    allowance.since = now;
  }
  return allowance.left > 0 && allowance.left-- > 0;
}

void Events::forget_old(Moment now) {
  std::erase_if(said_, [&](const auto& entry) { return now - entry.second.last > kRemembered; });
  std::erase_if(allowances_, [&](const auto& entry) { return now - entry.second.since > kOneIn * kBurst; });
}

void Events::add(const GnnJob& job, const Event& event, Moment now) {
  std::lock_guard lock(mutex_);
  forget_old(now);
  if (letters_.size() >= kMostLetters || !take_allowance(job.meta.uid, now)) return;
  const std::string key =
      fmt::format("{} {} {} {}", job.meta.uid, event.is_warning, event.reason, event.message);
  auto [found, is_new] = said_.try_emplace(key);
  Said& said = found->second;
  ++said.count;
  said.last = now;
  if (is_new) {
    said.first = now;
    // kubectl shows events of the same second in the order of their names.
    const std::string name =
        fmt::format("{}.{:08x}{:04x}{}", job.meta.name.substr(0, 200), now.time_since_epoch().count(),
                    said_so_far_++ & 0xffff, sha256_hex(key + identity_).substr(0, 8));
    said.path = kEvents.path(job.meta.space, name);
    letters_.push_back(first_letter(job, event, said, name));
  } else {
    letters_.push_back(
        {false, said.path, json{{"count", said.count}, {"lastTimestamp", text_of(now)}}.dump()});
  }
}

Events::Letter Events::first_letter(const GnnJob& job, const Event& event, const Said& said,
                                    const std::string& name) const {
  const std::string api_version = std::string(kApiGroup) + "/" + kApiVersion;
  const json object = {{"apiVersion", "v1"},
                       {"kind", "Event"},
                       {"metadata", {{"name", name}, {"namespace", job.meta.space}}},
                       {"involvedObject",
                        {{"apiVersion", api_version},
                         {"kind", kApiKind},
                         {"name", job.meta.name},
                         {"namespace", job.meta.space},
                         {"uid", job.meta.uid}}},
                       {"type", event.is_warning ? "Warning" : "Normal"},
                       {"reason", event.reason},
                       {"message", bounded(event.message, kLongestEvent)},
                       {"count", said.count},
                       {"firstTimestamp", text_of(said.first)},
                       {"lastTimestamp", text_of(said.last)},
                       {"source", {{"component", kComponent}}},
                       {"reportingComponent", kComponent},
                       {"reportingInstance", identity_}};
  return {true, kEvents.path(job.meta.space), object.dump(-1, ' ', false, json::error_handler_t::replace)};
}

void Events::send() {
  for (;;) {
    Letter letter;
    {
      std::lock_guard lock(mutex_);
      if (letters_.empty()) return;
      letter = std::move(letters_.front());
      letters_.pop_front();
    }
    try {
      if (letter.is_new)
        client_.create(letter.path, letter.body);
      else
        client_.patch(letter.path, letter.body, {.kind = kube::PatchKind::kMerge});
    } catch (const kube::TransportError&) {
      // A lost event does no harm: events are for people, and the status has the facts.
    }
  }
}

}  // namespace atl::ctl
