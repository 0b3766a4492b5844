// The parts of a report: the files of its page, the final figures as tables, the JSON that its script draws.
#pragma once

#include <string>
#include <string_view>

#include "telemetry/record.h"

namespace atl {

// The files beside this one, which CMake makes text of (engine/CMakeLists.txt).
extern const char* const kReportPage;    // page.html, with marks where the rest goes
extern const char* const kReportStyle;   // page.css
extern const char* const kReportScript;  // the .js files

/// Text as it may stand in HTML, attributes included. Control characters become replacement characters.
std::string html_escape(std::string_view text);

// Tables of final figures. Each is empty where the run has no such figures.

std::string epochs_table(const RunRecord& run);   // the first, the best and the last
std::string phases_table(const RunRecord& run);   // each phase's share of all ranks' time, mean and most
std::string memory_table(const RunRecord& run);   // of each server's ranks
std::string traffic_table(const RunRecord& run);  // within and between servers, and the busiest pair of ranks
std::string purposes_table(const RunRecord& run);   // what was sent for what
std::string confusion_table(const RunRecord& run);  // the five most frequent mistakes, worst first
std::string links_table(const RunRecord& run);      // metrics of the test pairs
std::string explained_table(
    const RunRecord& run);  // what matters most to each rank of others, and what explaining took

/// run.json's keys without the manifest, which the page has as text, and `epochs`, the columns of
/// metrics.jsonl. It may stand in a <script>, for it has no "<".
std::string report_data(const RunRecord& run);

}  // namespace atl
