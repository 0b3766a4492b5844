// Names of GNNJob on a cluster, and how long a job's own name may be.
#pragma once

namespace atl {

inline constexpr const char* kApiGroup = "atoll.dev";
inline constexpr const char* kApiVersion = "v1alpha1";
inline constexpr const char* kApiKind = "GNNJob";
inline constexpr const char* kApiPlural = "gnnjobs";
inline constexpr const char* kApiSingular = "gnnjob";
inline constexpr const char* kApiShortName = "gnn";

/// A pod's host name is its name, which kubelet cuts after 63 characters. All pods of a job with a longer
/// name would have the same host name. The operator appends at most "-launcher-" and an attempt's number of
/// six digits.
inline constexpr int kLongestHostName = 63, kLongestJobName = kLongestHostName - 16;

}  // namespace atl
