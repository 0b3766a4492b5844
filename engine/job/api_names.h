// What a GNNJob is called on a cluster, and how long its own name may be.
#pragma once

namespace atl {

inline constexpr const char* kApiGroup = "atoll.dev";
inline constexpr const char* kApiVersion = "v1alpha1";
inline constexpr const char* kApiKind = "GNNJob";
inline constexpr const char* kApiPlural = "gnnjobs";
inline constexpr const char* kApiSingular = "gnnjob";
inline constexpr const char* kApiShortName = "gnn";

/// A pod's name is its host name too, of which kubelet takes the first 63 characters: all pods of a job with
/// a longer name would be the same host. "-launcher-" and the number of an attempt, in six digits, are the
/// most that is added.
inline constexpr int kLongestHostName = 63, kLongestJobName = kLongestHostName - 16;

}  // namespace atl
