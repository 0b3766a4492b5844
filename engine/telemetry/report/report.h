// report.html: what a run did, for people, in one self-contained file that needs no network.
#pragma once

#include <filesystem>
#include <string>

#include "telemetry/record.h"

namespace atl {

/// The page: final figures as tables, and about 100 bytes per epoch from which its script draws. Large
/// matrices are summed in blocks.
std::string report_html(const RunRecord& run);

/// Writes it atomically to `path`.
void write_report(const RunRecord& run, const std::filesystem::path& path);

}  // namespace atl
