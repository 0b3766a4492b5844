// Any bytes as a manifest: either a Job, which must survive being written and read again, or an Error.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "job/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  atl::Job job;
  try {
    job = atl::parse_job(text, "fuzz.yaml").job;
  } catch (const atl::Error&) {
    return 0;
  }
  if (!(atl::parse_job(atl::write_job(job), "written.yaml").job == job)) std::abort();
  return 0;
}
