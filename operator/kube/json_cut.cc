#include "operator/kube/json_cut.h"

#include <algorithm>

#include "base/error.h"

namespace atl::kube {
namespace {

constexpr std::string_view kItems = "items";

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// The index behind the closing quote of the string that begins at text[at].
std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

/// The index behind the value that begins at text[at].
std::size_t value_end(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = string_end(text, at);
      if (depth == 0) return at;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) return at;
    if (c == '{' || c == '[') ++depth;
    ++at;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return at;
}

}  // namespace

ItemCutter::Place ItemCutter::place() const {
  if (!in_items_) return Place::kEnvelope;
  return depth_ == 2 ? Place::kBetween : Place::kItem;
}

void ItemCutter::feed(std::string_view part) {
  std::size_t begin = 0;  // where the part that isn't stored yet begins
  for (std::size_t i = 0; i < part.size(); ++i) {
    const Place before = place();
    step(part[i]);
    const Place after = place();
    if (before == Place::kBetween) {
      begin = after == Place::kBetween
                  ? i + 1
                  : i;  // a comma or blank; the first byte of an item, or the last bracket
    } else if (after == Place::kBetween) {
      keep(before, part.substr(begin, i + 1 - begin));
      begin = i + 1;
      if (before == Place::kItem) {
        on_item_(item_);
        item_.clear();
      }
    }
  }
  keep(place(), part.substr(begin));
}

void ItemCutter::keep(Place place, std::string_view run) {
  std::string& into = place == Place::kItem ? item_ : envelope_;
  if (into.size() + run.size() > limit_) fail("an object of a list is larger than {} bytes", limit_);
  into.append(run);
}

void ItemCutter::step(char c) {
  if (in_string_) {
    const bool is_end = c == '"' && !is_escaped_;
    is_escaped_ = c == '\\' && !is_escaped_;
    if (is_end) {
      in_string_ = false;
    } else if (depth_ == 1 && word_.size() <= kItems.size()) {
      word_ += c;
    }
    return;
  }
  if (c == '"') {
    in_string_ = true;
    if (depth_ == 1) word_.clear();
  } else if (c == '{' || c == '[') {
    in_items_ |= depth_ == 1 && c == '[' && word_ == kItems;
    ++depth_;
  } else if (c == '}' || c == ']') {
    --depth_;
    if (depth_ == 1) in_items_ = false;
  }
}

void LineCutter::feed(std::string_view part) {
  text_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  if (text_.size() + part.size() > limit_) fail("an event of a watch is larger than {} bytes", limit_);
  text_.append(part);
}

bool LineCutter::next(std::string& line) {
  for (;;) {
    const auto end = text_.find('\n', searched_);
    if (end == std::string::npos) {
      searched_ = text_.size();
      return false;
    }
    line.assign(text_, begin_, end - begin_);
    begin_ = searched_ = end + 1;
    if (line.find_first_not_of(" \r\t") != std::string::npos) return true;
  }
}

std::string_view member_text(std::string_view object, std::string_view name) {
  std::size_t at = object.find('{');
  if (at == std::string_view::npos) return {};
  ++at;
  const auto skip_blanks = [&] {
    while (at < object.size() && (is_blank(object[at]) || object[at] == ',')) ++at;
  };
  for (skip_blanks(); at < object.size() && object[at] == '"'; skip_blanks()) {
    const std::size_t key = at + 1, key_end = string_end(object, at);
    at = object.find(':', key_end);
    if (at == std::string_view::npos) return {};
    for (++at; at < object.size() && is_blank(object[at]);) ++at;
    const std::size_t value = at;
    at = value_end(object, at);
    if (object.substr(key, key_end - 1 - key) == name) return object.substr(value, at - value);
  }
  return {};
}

namespace {

/// A string member without its quotes. It isn't unescaped: names, UIDs and versions contain nothing that JSON
/// escapes.
std::string_view plain(std::string_view object, std::string_view name) {
  const std::string_view text = member_text(object, name);
  return text.size() >= 2 && text[0] == '"' ? text.substr(1, text.size() - 2) : std::string_view();
}

}  // namespace

ObjectKey object_key(std::string_view object) {
  const std::string_view metadata = member_text(object, "metadata");
  ObjectKey key;
  const std::string_view space = plain(metadata, "namespace");
  if (!space.empty()) key.name = std::string(space) + "/";
  key.name += plain(metadata, "name");
  key.uid = plain(metadata, "uid");
  key.version = plain(metadata, "resourceVersion");
  return key;
}

}  // namespace atl::kube
