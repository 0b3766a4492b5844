#include "operator/run/other_installations.h"

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "operator/api/json_values.h"
#include "operator/plan/json_members.h"
#include "operator/run/log.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr const char* kSpacesAnnotation = "atoll.dev/namespaces";  // on a lease: "a,b"; "": all
constexpr const char* kInstead =
    "end that one, or give this one a class or namespaces of its own (--class, --namespace; the chart's operatorClass, "
    "watchNamespaces)";

}  // namespace

OtherInstallations::OtherInstallations(kube::Client& client, const Options& options,
                                       const kube::LeaseOptions& own, kube::Clock& clock)
    : client_(client), options_(options), own_(own), clock_(clock) {}

void OtherInstallations::describe(const Options& options, kube::LeaseOptions& lease) {
  lease.labels[kClassLabel] = options.operator_class;
  lease.annotations[kSpacesAnnotation] = joined(options.spaces, ",");
}

bool OtherInstallations::is_ours_too(const std::string& spaces) const {
  if (spaces.empty() || options_.spaces.empty()) return true;
  const std::string list = "," + spaces + ",";
  return std::ranges::any_of(options_.spaces, [&](const std::string& space) {
    return list.find("," + space + ",") != std::string::npos;
  });
}

/// Holders of other leases whose jobs overlap ours; nothing if that can't be found out now.
std::optional<std::vector<OtherInstallations::Rival>> OtherInstallations::look() {
  std::vector<Rival> others;
  const auto add = [&](std::string_view text) {
    const json lease = json_or_discarded(text);
    const json &metadata = member(lease, "metadata"), &spec = member(lease, "spec");
    Rival rival{text_of(metadata, "namespace") + "/" + text_of(metadata, "name"),
                text_of(spec, "holderIdentity"), text_of(spec, "renewTime"),
                text_of(member(metadata, "annotations"), kSpacesAnnotation)};
    if (const auto seconds = integer_of(spec, "leaseDurationSeconds"); seconds && *seconds > 0)
      rival.duration = std::chrono::seconds(*seconds);
    const bool is_another = rival.lease != own_.space + "/" + own_.name;
    if (is_another && !rival.holder.empty() && is_ours_too(rival.spaces)) others.push_back(std::move(rival));
  };
  try {
    const std::string ours = std::string(kClassLabel) + "=" + options_.operator_class;
    const kube::Listing listing = client_.list(kube::leases_resource().path(), {.only = {ours, ""}}, add);
    if (!listing.error) return others;
    if (listing.error->code != 403) return {};
    log_warning("{}: whether another operator sees to the same jobs isn't known", listing.error->text());
    return std::vector<Rival>{};
  } catch (const kube::TransportError&) {
    return {};
  }
}

void OtherInstallations::refuse(const Rival& rival) const {
  fail("{} (lease {}) sees to GNNJobs of class {} in {} already; {}", rival.holder, rival.lease,
       options_.operator_class, rival.spaces.empty() ? "all namespaces" : rival.spaces, kInstead);
}

void OtherInstallations::expect_none(const std::stop_token& stop) {
  const auto begin = clock_.now();
  for (bool is_first = true;; is_first = false) {
    const auto others = look();
    std::chrono::seconds longest{0};
    for (const Rival& rival : others.value_or(std::vector<Rival>{})) {
      const bool is_known = seen_.contains(rival.lease);
      if (is_known ? seen_.at(rival.lease) != rival.sign() : !is_first) refuse(rival);
      seen_[rival.lease] = rival.sign();
      longest = std::max(longest, rival.duration);
    }
    if (others && clock_.now() >= begin + longest) return;
    if (!clock_.sleep(own_.retry, stop)) return;
  }
}

bool OtherInstallations::expect_none_new() {
  const auto others = look();
  for (const Rival& rival : others.value_or(std::vector<Rival>{}))
    if (!seen_.contains(rival.lease) || seen_.at(rival.lease) != rival.sign()) refuse(rival);
  return others.has_value();
}

}  // namespace atl::ctl
