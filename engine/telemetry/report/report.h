// report.html: what a run did, in one self-contained file that needs no network, for people.
#pragma once

#include <filesystem>
#include <string>

#include "telemetry/record.h"

namespace atl {

/// The page: final figures as tables, and about 100 bytes per epoch that its script draws. Matrices too fine
/// to be seen are summed in blocks.
std::string report_html(const RunRecord& run);

/// Writes it atomically to `path`.
void write_report(const RunRecord& run, const std::filesystem::path& path);

}  // namespace atl
