#include "operator/kube/lease.h"

#include <algorithm>
#include <ctime>

#include "base/json.h"

namespace atl::kube {
namespace {

using nlohmann::json;

/// The time of day as the API's MicroTime. It is for people: no code here reads it.
std::string micro_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::time_t seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count() % 1'000'000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  return fmt::format("{}.{:06}Z", text, micros);
}

constexpr int kConflict = 409;               // if two replicas write at once, the slower gets this
constexpr Milliseconds kShortestPause{100};  // between two tries to renew
constexpr const char* kTooLate = "the API server answered too late";

/// A member of the lease's spec; "" or 0 where it has none of that type.
std::string text_in(const json& spec, const char* name) {
  return spec.contains(name) && spec[name].is_string() ? spec[name].get<std::string>() : "";
}
int number_in(const json& spec, const char* name) {
  return spec.contains(name) && spec[name].is_number_integer() ? spec[name].get<int>() : 0;
}

json spec_of(const json& lease) {
  const json spec = lease.is_object() ? lease.value("spec", json::object()) : json::object();
  return spec.is_object() ? spec : json::object();
}

}  // namespace

const Resource& leases_resource() {
  static const Resource kLeases{"coordination.k8s.io", "v1", "leases"};
  return kLeases;
}

Lease::Lease(Client& client, LeaseOptions options, Clock& clock)
    : client_(client),
      options_(std::move(options)),
      clock_(clock),
      path_(leases_resource().path(options_.space, options_.name)) {}

bool Lease::leads() const {
  return clock_.now() < leads_until_.load();
}

bool Lease::acquire(const std::stop_token& stop) {
  while (!options_.is_fit() || !try_once())
    if (!clock_.sleep(options_.retry, stop)) return false;
  return true;
}

bool Lease::hold(const std::stop_token& stop) {
  while (leads()) {
    const auto lapses = leads_until_.load();
    // Tries follow each other faster before the lapse, so that none is due at the lapse itself.
    const auto left = std::chrono::ceil<Milliseconds>(lapses - clock_.now());
    const auto pause = std::min<Milliseconds>({options_.retry, std::max(left / 2, kShortestPause), left});
    if (!clock_.sleep(pause, stop) || !options_.is_fit()) return leads();
    try_once();
    if (!leads() || clock_.now() < lapses) continue;
    // await_lapse() has returned by now, so a late answer can't give the lead back.
    leads_until_ = Clock::Time::min();
    problem_ = kTooLate;
  }
  return false;
}

bool Lease::await_lapse(const std::stop_token& stop) const {
  while (leads()) {
    const auto left = std::chrono::ceil<Milliseconds>(leads_until_.load() - clock_.now());
    if (!clock_.sleep(std::max(left, Milliseconds(1)), stop)) return false;
  }
  return true;
}

/// Acquires or renews the lease. Returns false if somebody else leads or nothing could be written.
/// leads_until_ then stays as it was.
bool Lease::try_once() {
  const auto begun = clock_.now();
  try {
    const auto record = read();
    if (record && !may_take(*record)) {
      leads_until_ = Clock::Time::min();
      problem_.clear();
      return false;
    }
    if (!write(record, options_.identity)) {
      problem_.clear();
      return false;
    }
  } catch (const TransportError& error) {
    // The request was broken off, either because we were to stop or because the lease has lapsed. The second
    // case has to be reported.
    if (error.kind() == TransportError::Kind::kCancelled)
      problem_ = "the API server didn't answer in time";
    else
      lack(error.what());
    return false;
  }
  problem_.clear();
  told_.clear();
  leads_until_ = begun + options_.renew_within;  // counted from before the write; others count from later
  if (!leads()) problem_ = kTooLate;
  return true;
}

void Lease::lack(const std::string& why) {
  problem_ = why;
  if (why == told_) return;
  told_ = why;
  options_.on_problem(why);
}

/// Reads the lease; nothing if the object doesn't exist yet.
std::optional<Lease::Record> Lease::read() {
  const Answer answer = client_.get(path_);
  if (!answer && answer.error->is_not_found()) return std::nullopt;
  if (!answer) throw TransportError(TransportError::Kind::kBroken, answer.error->text());
  const json lease = json_or_discarded(answer.object);
  if (!lease.is_object())
    throw TransportError(TransportError::Kind::kBroken, path_ + ": an answer that is no object");
  const json spec = spec_of(lease);
  Record record{answer.object, text_in(spec, "holderIdentity"), text_in(spec, "renewTime"),
                options_.duration};
  if (const int stated = number_in(spec, "leaseDurationSeconds"); stated > 0)
    record.duration = std::chrono::seconds(stated);
  return record;
}

bool Lease::may_take(const Record& record) {
  observe(record);
  if (record.holder.empty() || record.holder == options_.identity) return true;
  return clock_.now() >= seen_since_ + record.duration;
}

void Lease::observe(const Record& record) {
  const std::string seen = record.holder + " " + record.renewed;
  if (seen == seen_) return;
  seen_ = seen;
  seen_since_ = clock_.now();
}

/// Writes `holder` as the lease's holder ("": nobody). Returns false if somebody else was faster. Throws
/// TransportError if the server refuses the write.
bool Lease::write(const std::optional<Record>& before, const std::string& holder) {
  json lease = before ? parse_json(before->text) : json::object();
  lease["apiVersion"] = leases_resource().group + "/" + leases_resource().version;
  lease["kind"] = "Lease";
  lease["metadata"]["name"] = options_.name;
  for (const auto& [name, value] : options_.labels) lease["metadata"]["labels"][name] = value;
  for (const auto& [name, value] : options_.annotations) lease["metadata"]["annotations"][name] = value;
  json spec = spec_of(lease);
  const bool is_change = !before || before->holder != holder;
  if (is_change && !holder.empty()) {
    spec["acquireTime"] = micro_time();
    spec["leaseTransitions"] = number_in(spec, "leaseTransitions") + (before ? 1 : 0);
  }
  spec["holderIdentity"] = holder;
  spec["leaseDurationSeconds"] = holder.empty() ? 1 : options_.duration.count();
  spec["renewTime"] = micro_time();
  lease["spec"] = std::move(spec);
  // The write includes the version that was read. So if two replicas take the lease at once, the server
  // refuses one.
  const Answer answer = before ? client_.replace(path_, lease.dump())
                               : client_.create(leases_resource().path(options_.space), lease.dump());
  if (!answer && answer.error->code != kConflict)
    throw TransportError(TransportError::Kind::kBroken, answer.error->text());
  return bool(answer);
}

void Lease::release() {
  if (!leads()) return;
  leads_until_ = Clock::Time::min();
  try {
    const auto record = read();
    if (record && record->holder == options_.identity) write(record, "");
  } catch (const TransportError&) {
    // The lease will lapse by itself.
  }
}

}  // namespace atl::kube
