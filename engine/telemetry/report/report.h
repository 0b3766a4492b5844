// report.html: what a run did, for people, in one self-contained file that needs no network.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "telemetry/record.h"

namespace atl {

/// The page: final figures as tables, and about 100 bytes per epoch from which its script draws. Large
/// matrices are summed in blocks.
std::string report_html(const RunRecord& run);

/// Writes the page atomically to `path`.
void write_report(const RunRecord& run, const std::filesystem::path& path);

// The parts of a report: the files of its page, the final figures as tables, the JSON that its script draws.

// The files beside this one, which CMake turns into text (engine/CMakeLists.txt).
extern const char* const kReportPage;    // page.html, with marks where the rest goes
extern const char* const kReportStyle;   // page.css
extern const char* const kReportScript;  // the .js files

/// The text escaped for HTML, attributes included. Control characters become replacement characters.
std::string html_escape(std::string_view text);

// Tables of final figures. Each is empty where the run has no such figures.

std::string epochs_table(const RunRecord& run);   // the first, the best and the last
std::string phases_table(const RunRecord& run);   // each phase's share of time; mean and maximum over ranks
std::string memory_table(const RunRecord& run);   // memory of each server's ranks
std::string traffic_table(const RunRecord& run);  // within and between servers, and the busiest pair of ranks
std::string purposes_table(const RunRecord& run);   // bytes by purpose
std::string confusion_table(const RunRecord& run);  // the five most frequent mistakes, worst first
std::string links_table(const RunRecord& run);      // metrics of the test pairs
// The other ranks' vertices and the feature columns that matter most to each rank, and what explaining took.
std::string explained_table(const RunRecord& run);

/// run.json's keys without the manifest, which is on the page as text, and `epochs`, the columns of
/// metrics.jsonl. It has no "<", so that it may stand in a <script>.
std::string report_data(const RunRecord& run);

}  // namespace atl
