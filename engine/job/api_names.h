// Names of GNNJob on a cluster, and how long a job's own name may be.
#pragma once

namespace atl {

inline constexpr const char* kApiGroup = "atoll.dev";
inline constexpr const char* kApiVersion = "v1alpha1";
inline constexpr const char* kApiKind = "GNNJob";
inline constexpr const char* kApiPlural = "gnnjobs";
inline constexpr const char* kApiSingular = "gnnjob";
inline constexpr const char* kApiShortName = "gnn";

/// A pod's name is its host name too, and kubelet cuts that after 63 characters: all pods of a job with a
/// longer name would have the same host name. At most "-launcher-" and the number of an attempt, in six
/// digits, are appended.
inline constexpr int kLongestHostName = 63, kLongestJobName = kLongestHostName - 16;

}  // namespace atl
