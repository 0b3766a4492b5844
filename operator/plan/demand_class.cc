// Classes of gangs that are alike: on the same cluster all gangs of a class get the same answer, whosever
// they are. So if one doesn't fit, none of its class does.
#include "operator/plan/gang.h"

#include <bit>
#include <cstdint>

namespace atl::ctl {
namespace {

/// Joins parts of a text, each with its length, so that different lists of parts make different texts.
class Text {
 public:
  void add(const std::string& part) { (all += std::to_string(part.size()) += ':') += part; }
  void add(std::int64_t number) { (all += std::to_string(number)) += ','; }
  void add(double number) { add(std::bit_cast<std::int64_t>(number)); }
  void add(const Resources& resources) {
    add(std::int64_t(resources.amounts().size()));
    for (const auto& [name, amount] : resources.amounts()) {
      add(name);
      add(amount);
    }
  }
  void add(const std::vector<LabelRule>& rules) {
    add(std::int64_t(rules.size()));
    for (const LabelRule& rule : rules) {
      add(rule.key);
      add(rule.comparison);
      add(std::int64_t(rule.of_name));
      add(std::int64_t(rule.values.size()));
      for (const std::string& value : rule.values) add(value);
    }
  }
  void add(const NodeTerms& terms) {
    add(std::int64_t(terms.size()));
    for (const auto& term : terms) add(term);
  }

  std::string all;
};

void add_filter(Text& text, const NodeFilter& filter) {
  text.add(filter.selector);
  text.add(filter.terms);
  text.add(std::int64_t(filter.tolerations.size()));
  for (const Toleration& toleration : filter.tolerations)
    for (const std::string* part :
         {&toleration.key, &toleration.comparison, &toleration.value, &toleration.effect})
      text.add(*part);
  text.add(std::int64_t(filter.excluded.size()));
  for (const std::string& node : filter.excluded) text.add(node);
  text.add(std::int64_t(filter.oldest_driver));
}

/// A digest by FNV-1a, because a dense job has thousands of flows.
std::int64_t digest_of(const Traffic& traffic) {
  std::uint64_t digest = 0xcbf29ce484222325ULL;
  const auto mix = [&](std::uint64_t number) { digest = (digest ^ number) * 0x100000001b3ULL; };
  for (int server = 0; server < traffic.servers(); ++server)
    for (const auto& [peer, bytes] : traffic.peers(server)) {
      mix(std::uint64_t(server) << 32 | std::uint64_t(peer));
      mix(std::bit_cast<std::uint64_t>(bytes));
    }
  return std::int64_t(digest);
}

}  // namespace

std::string demand_class(const Gang& gang) {
  Text text;
  text.add(std::int64_t(gang.servers.size()));
  text.add(std::int64_t(gang.servers.empty() ? 0 : gang.servers[0].size()));
  text.add(std::int64_t(gang.has_first_server()));
  text.add(gang.server);
  text.add(gang.launcher);
  add_filter(text, gang.filter);
  for (const GangVolume& volume : gang.volumes) {
    text.add(volume.claim);
    text.add(std::int64_t(volume.mounters));
    text.add(volume.place.terms);
    text.add(volume.place.problem);
  }
  for (const std::string& level : gang.levels) text.add(level);
  for (const double weight : gang.weights) text.add(weight);
  text.add(std::int64_t(gang.within));
  text.add(digest_of(gang.traffic));
  return std::move(text.all);
}

}  // namespace atl::ctl
