// atoll dataset info: what a stored data set holds, compared with what is published under its name.
#include <charconv>
#include <cstdio>
#include <numeric>

#include "base/error.h"
#include "command/commands.h"
#include "command/job_data.h"
#include "dataset/catalogue/describe.h"
#include "partition/prepared_files.h"

namespace atl {
namespace {

/// Reads a list of part counts: "2,4,8".
std::vector<int> parts_of(const std::string& list) {
  std::vector<int> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string text = list.substr(begin, end - begin);
    int value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || rest != text.data() + text.size() || value < 1 || value > 4096) {
      fail(
          "--partitions: '{}' is not allowed (use numbers of parts from 1 to 4096, separated by "
          "commas: 2,4,8)",
          list);
    }
    parts.push_back(value);
    begin = end + 1;
  }
  return parts;
}

/// The published figure: " (the real graph: 0.36, SOURCE)"; "" if the preset has none.
std::string reference_text(const Preset* preset, int parts) {
  if (preset == nullptr) return "";
  for (const BoundaryRatio& boundary : preset->boundary) {
    if (boundary.parts == parts)
      return fmt::format(" (the real graph: {}, {})", boundary.ratio, boundary.source);
  }
  return "";
}

std::string quality_line(const PartitionQuality& q, const Preset* preset) {
  const auto sum = [](const std::vector<Index>& values) {
    return double(std::accumulate(values.begin(), values.end(), Index(0)));
  };
  return fmt::format(
      "{:<12} {} parts: each vertex needs {:.3f} remote rows on average{}; {:.1f} % of arcs cut\n",
      "partition", q.owned.size(), double(q.volume) / sum(q.owned),
      reference_text(preset, int(q.owned.size())), 100 * double(q.cut_arcs) / sum(q.arcs));
}

int run_dataset_info(const Arguments& arguments) {
  const std::vector<int> partitions =
      arguments.has("--partitions") ? parts_of(arguments.get("--partitions")) : std::vector<int>{};
  const Dataset dataset = Dataset::open(stored_dataset(arguments.get("DATASET")), prepared_place(arguments));
  const bool json = arguments.has("--json");
  const DatasetDescription description = describe(dataset);
  std::printf("%s", json ? (to_json(description) + "\n").c_str() : to_text(description).c_str());
  for (int parts : partitions) {
    std::fflush(stdout);  // shows the lines so far: dividing a large graph takes minutes
    const auto [options, graph] = partition_graph(dataset, parts, {});
    if (json) {
      std::printf("%s\n", partition_event(options, graph.quality(), graph.folder()).c_str());
    } else {
      std::printf("%s", quality_line(graph.quality(), description.preset).c_str());
    }
  }
  return 0;
}

}  // namespace

Command dataset_info_command() {
  return {"dataset info",
          "print what a data set holds and compare it with the published counts",
          {{"DATASET", "", "folder of the data set, or its name under the data root", true},
           {"--partitions", "LIST",
            "divide the graph into these numbers of parts (2,4,8), as runs do, and keep the parts for runs"},
           prepared_argument(),
           {"--json", "", "print one JSON object per line"}},
          run_dataset_info};
}

}  // namespace atl
