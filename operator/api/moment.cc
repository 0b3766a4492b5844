#include "operator/api/moment.h"

#include <fmt/format.h>

#include <charconv>

namespace atl::ctl {
namespace {

namespace chrono = std::chrono;

/// The digits at [at, at + count), or nothing.
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

}  // namespace atl::ctl
