// Any bytes as a topology: either servers whose ranks are all there, or an Error.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "simulate/topology.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  atl::Topology topology;
  try {
    topology = atl::parse_topology(text, "fuzz.yaml");
  } catch (const atl::Error&) {
    return 0;
  }
  for (const int server : topology.server_of_rank())
    if (server < 0 || server >= int(topology.servers.size())) std::abort();
  if (topology.servers.size() > 1 && !(topology.slowest_rate() > 0)) std::abort();
  return 0;
}
