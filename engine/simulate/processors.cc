#include "simulate/processors.h"

#include <sched.h>

#include <cstddef>

namespace atl {

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) processors.push_back(cpu);
  return processors;
}

void stay_on_processor(int number, const std::vector<int>& allowed) {
  if (allowed.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(allowed[std::size_t(number) % allowed.size()], &set);
  sched_setaffinity(0, sizeof(set), &set);
}

}  // namespace atl
