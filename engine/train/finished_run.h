// A run that has finished isn't trained again. This recognises it, and says so.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "job/job.h"
#include "telemetry/record.h"

namespace atl {

/// The record of the run in `output` where it has finished as this job on this data set: its files are
/// written, and no epoch is left to train. None where its record can't be read.
std::optional<RunRecord> finished_run(const std::filesystem::path& output, const Job& job,
                                      const std::string& dataset_checksum);

/// One line: what was done, what the job asks for, and how to train more.
std::string finished_words(const RunRecord& run, const Job& job);

}  // namespace atl
