// Tells where and on what a run takes place: machine, versions, job.
#include "train/session.h"

#include <unistd.h>

#include <fstream>

#include "base/cpus.h"
#include "base/threads.h"
#include "job/options.h"
#include "job/strategies.h"
#include "telemetry/link_metrics.h"
#include "train/trainer.h"

namespace atl {

std::string machine_line() {
  std::string model = "unknown processor";
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  }
  const double gib =
      double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE)) / (1024.0 * 1024 * 1024);
  return fmt::format("{}, {} cores available, {:.0f} GiB", model, available_cores(), gib);
}

std::map<std::string, std::string> build_versions() {
  return {{"atoll", ATOLL_VERSION}, {"compiler", "g++ " __VERSION__}};
}

RunSetting run_setting(Communicator& comm, const SessionOptions& o, const DatasetMeta& dataset,
                       Trainer& trainer) {
  RunSetting s;
  s.name = o.job.name;
  s.job_yaml = o.job_yaml;
  s.dataset = dataset.name;
  s.dataset_checksum = dataset.checksum;
  s.vertices = dataset.vertices;
  s.arcs = dataset.arcs;
  s.features = dataset.features;
  s.classes = dataset.classes;
  s.model = fmt::format("{}, {} layers, hidden {}", o.job.model.kind, o.job.model.layers, o.job.model.hidden);
  s.strategy = o.job.strategy.row->kind;
  s.metric = reported_metric(o.job);
  s.partitioner = o.job.placement.partitioner.kind;
  s.parameters = trainer.parameters().whole_trainable();
  s.epochs = o.job.training.epochs;
  s.ranks = comm.size();
  s.threads = o.threads;
  for (int r = 0; r < comm.size(); ++r) s.hosts.push_back(comm.host(r));
  s.versions = build_versions();
  s.versions["transport"] = comm.transport_name();
  const std::string cpus = cpu_list(o.cpus);
  for (const auto& text : comm.all_gather(Traffic::kSetup, std::as_bytes(std::span(cpus))))
    s.cpus.emplace_back(reinterpret_cast<const char*>(text.data()), text.size());
  s.machine = o.machine;
  s.output = o.output.string();
  return s;
}

}  // namespace atl
