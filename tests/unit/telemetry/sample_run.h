// A small finished run on two ranks, for tests of code that shows runs.
#pragma once

#include <cmath>

#include "telemetry/record.h"

namespace atl {

inline EpochRecord sample_epoch(Index epoch) {
  EpochRecord e;
  e.epoch = epoch;
  e.loss = 2.0 / double(epoch);
  if (epoch % 2 == 0) e.validation = 1 - 1.0 / double(epoch);
  if (epoch % 2 == 0) e.validation_loss = 1.5;
  e.train = 0.5;
  e.learning_rate = 0.01;
  e.epoch_seconds = 0.25;
  e.bytes = {1000, 2000};
  e.own.phases = {{"compute", 0.2}, {"communication", 0.05}};
  e.own.traffic = {{"inter", "halo", 900}, {"inter", "gradient", 100}};
  e.own.resident_bytes = 5 << 20;
  e.own.communication_seconds = 0.06;
  e.own.progress_cpu_seconds = 0.01;
  return e;
}

inline RunRecord sample_run(Index epochs = 4) {
  RunRecord run;
  run.setting.name = "cora-gcn";
  run.setting.job_yaml = "spec:\n  model: {kind: gcn} # <&>\n";
  run.setting.dataset = "cora";
  run.setting.dataset_checksum = "0123456789abcdef";
  run.setting.vertices = 2708;
  run.setting.arcs = 10556;
  run.setting.features = 1433;
  run.setting.classes = 3;
  run.setting.model = "gcn";
  run.setting.parameters = 23063;
  run.setting.strategy = "graph";
  run.setting.metric = "accuracy";
  run.setting.partitioner = "metis";
  run.setting.epochs = epochs;
  run.setting.ranks = 2;
  run.setting.hosts = {"n1", "n2"};
  run.setting.cpus = {"0-3,8", ""};
  run.setting.versions = {{"atoll", "0.1.0"}, {"open mpi", "4.1.4"}};
  run.setting.machine = "2 cores, 24 GiB";
  run.setting.output = "results/cora-gcn";
  for (Index epoch = 1; epoch <= epochs; ++epoch) run.epochs.push_back(sample_epoch(epoch));
  run.outcome = "completed";
  run.best_epoch = 4;
  run.validation = 0.75;
  run.test = 0.815;
  run.epoch_seconds_median = 0.25;
  run.startup_seconds = 1.5;
  run.peak_memory_bytes = {100 << 20, 120 << 20};
  run.bytes_by_pair = {0, 3000, 1000, 0};
  run.phases_by_rank = {{{"compute", 0.8}, {"communication", 0.2}},
                        {{"compute", 0.7}, {"communication", 0.3}}};
  run.typical_by_rank = {{0.25, 0.2, 0.05, 0.06, 0.01}, {0.25, 0.18, 0.07, 0.08, 0.02}};
  run.training_traffic = {{"inter", "halo", 7200}, {"inter", "gradient", 800}};
  run.confusion = {3, {50, 3, 1, 2, 60, 4, 0, 5, 70}};
  return run;
}

}  // namespace atl
