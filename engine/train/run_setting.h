// Where and on what a run takes place: the part of its record that is known before the first epoch.
#pragma once

#include "comm/communicator.h"
#include "dataset/dataset.h"
#include "telemetry/record.h"
#include "train/session.h"
#include "train/trainer.h"

namespace atl {

RunSetting run_setting(Communicator& comm, const SessionOptions& options, const DatasetMeta& dataset,
                       Trainer& trainer);

/// One line: processor, cores, memory.
std::string machine_line();
/// atoll, compiler, …
std::map<std::string, std::string> build_versions();

}  // namespace atl
