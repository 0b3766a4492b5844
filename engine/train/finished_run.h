// A run that has finished isn't trained again: what tells that it has, and what is said then.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "job/job.h"
#include "telemetry/record.h"

namespace atl {

/// The record of the run in `output` where it has finished as this job on this data set: its files are
/// written, and there is no epoch left to train. Where its record can't be read it hasn't.
std::optional<RunRecord> finished_run(const std::filesystem::path& output, const Job& job,
                                      const std::string& dataset_checksum);

/// One line: what was done, what is asked for now, and what would train more.
std::string finished_words(const RunRecord& run, const Job& job);

}  // namespace atl
