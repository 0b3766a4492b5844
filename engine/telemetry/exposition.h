// Prometheus' text format, in which a page may speak of a metric in one place alone.
#pragma once

#include <span>
#include <string>

namespace atl {

/// Pages of several ranks as one: what is said of a metric (# HELP, # TYPE) stands there once, and all samples follow it, in
/// the order of the pages.
std::string join_expositions(std::span<const std::string> pages);

}  // namespace atl
