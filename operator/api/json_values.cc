#include "operator/api/json_values.h"

#include <fmt/format.h>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {

std::optional<std::int64_t> integer_of(const nlohmann::json& object, const char* name) {
  const auto& value = member(object, name);
  if (!value.is_number_integer()) return {};
  return value.get<std::int64_t>();
}

std::optional<double> number_of(const nlohmann::json& object, const char* name) {
  const auto& value = member(object, name);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return {};
  return value.get<double>();
}

std::optional<Moment> moment_of(const nlohmann::json& object, const char* name) {
  return parse_moment(text_of(object, name));
}

const nlohmann::json& list_of(const nlohmann::json& object, const char* name) {
  static const nlohmann::json kNone = nlohmann::json::array();
  const auto& value = member(object, name);
  return value.is_array() ? value : kNone;
}

std::string bounded(const std::string& text, std::size_t most) {
  constexpr const char* kMore = "…";
  const std::string_view good = std::string_view(text).substr(0, find_invalid_utf8(text));
  if (good.size() <= most) return std::string(good);
  std::size_t end = most - std::string_view(kMore).size();
  while (end > 0 && (static_cast<unsigned char>(good[end]) & 0xc0) == 0x80) --end;
  return std::string(good.substr(0, end)) + kMore;
}

namespace {

namespace chrono = std::chrono;

/// The number in [at, at + count), or nothing.
std::optional<int> digits(const std::string& text, std::size_t at, std::size_t count) {
  int value = 0;
  const char* begin = text.data() + at;
  const auto [stop, error] = std::from_chars(begin, begin + count, value);
  if (error != std::errc() || stop != begin + count || *begin == '-') return {};
  return value;
}

}  // namespace

std::string text_of(Moment moment) {
  const auto day = chrono::floor<chrono::days>(moment);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(moment - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int(date.year()), unsigned(date.month()),
                     unsigned(date.day()), clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count());
}

std::optional<Moment> parse_moment(const std::string& text) {
  constexpr std::size_t kShortest = sizeof("2026-03-01T12:00:05Z") - 1;
  if (text.size() < kShortest || text.back() != 'Z' || text[10] != 'T') return {};
  const auto y = digits(text, 0, 4), m = digits(text, 5, 2), d = digits(text, 8, 2), h = digits(text, 11, 2),
             min = digits(text, 14, 2), s = digits(text, 17, 2);
  if (!y || !m || !d || !h || !min || !s) return {};
  const chrono::year_month_day date{chrono::year(*y), chrono::month(unsigned(*m)), chrono::day(unsigned(*d))};
  if (!date.ok()) return {};
  return Moment(chrono::sys_days(date)) + chrono::hours(*h) + chrono::minutes(*min) + Seconds(*s);
}

namespace {

using Texts = std::map<std::string, std::string>;

Texts texts(const nlohmann::json& object) {
  Texts all;
  for (const auto& [key, value] : object.items()) all[key] = text_of(value);
  return all;
}

std::string found(const Texts& texts, const std::string& key) {
  const auto at = texts.find(key);
  return at == texts.end() ? "" : at->second;
}

}  // namespace

std::string Meta::label(const std::string& key) const {
  return found(labels, key);
}

std::string Meta::annotation(const std::string& key) const {
  return found(annotations, key);
}

Meta read_meta(const nlohmann::json& object) {
  const auto& metadata = member(object, "metadata");
  Meta meta;
  meta.name = text_of(metadata, "name");
  meta.space = text_of(metadata, "namespace");
  meta.uid = text_of(metadata, "uid");
  meta.version = text_of(metadata, "resourceVersion");
  meta.generation = integer_of(metadata, "generation").value_or(0);
  meta.created = moment_of(metadata, "creationTimestamp");
  meta.deletion = moment_of(metadata, "deletionTimestamp");
  meta.grace = int(integer_of(metadata, "deletionGracePeriodSeconds").value_or(0));
  meta.labels = texts(member(metadata, "labels"));
  meta.annotations = texts(member(metadata, "annotations"));
  constexpr std::size_t kLongestUid = 128;  // whoever makes an object can write anything there
  for (const auto& owner : list_of(metadata, "ownerReferences")) {
    std::string uid = text_of(owner, "uid");
    if (member(owner, "controller") == true && uid.size() <= kLongestUid) meta.owner_uid = std::move(uid);
  }
  return meta;
}

}  // namespace atl::ctl
