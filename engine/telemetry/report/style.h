// How a report looks and answers to the pointer: the page's style sheet and script.
#pragma once

namespace atl {

const char* report_style();
const char* report_script();

}  // namespace atl
