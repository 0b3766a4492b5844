#include "telemetry/rank_waits.h"

#include <nlohmann/json.hpp>

namespace atl {

using Json = nlohmann::json;

std::string wait_text(const WaitBoard::Wait& wait) {
  return Json{{"for", wait.peers}, {"seconds", wait.seconds}}.dump();
}

std::optional<WaitBoard::Wait> read_wait(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    return WaitBoard::Wait{json.at("for").get<std::vector<Rank>>(), json.at("seconds").get<double>()};
  } catch (const Json::exception&) {
    return {};
  }
}

}  // namespace atl
