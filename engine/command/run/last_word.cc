#include "command/run/last_word.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

/// Bytes that are no text become ones that are: what a program said last may be anything.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string last_word(Json end) {
  std::string text = text_of(end);
  while (text.size() > kLongestWord && end.contains("message") && !end["message"].empty()) {
    // A byte may take six in JSON: less goes at a time than is too much, and the beginning stays, which says what failed.
    auto& message = end["message"].get_ref<std::string&>();
    const std::size_t excess = text.size() - kLongestWord;
    message.resize(message.size() - std::min(message.size(), excess / 6 + 1));
    text = text_of(end);
  }
  return text;
}

void leave_word(const std::string& path, const Json& end) {
  std::ofstream file(path);
  file << last_word(end);
  file.close();
  if (!file)
    std::fprintf(stderr, "atoll: warning: %s: how this ended can't be written there\n", path.c_str());
}

}  // namespace atl
