// What a GNNJob is called on a cluster.
#pragma once

namespace atl {

inline constexpr const char* kApiGroup = "atoll.dev";
inline constexpr const char* kApiVersion = "v1alpha1";
inline constexpr const char* kApiKind = "GNNJob";
inline constexpr const char* kApiPlural = "gnnjobs";
inline constexpr const char* kApiSingular = "gnnjob";
inline constexpr const char* kApiShortName = "gnn";

}  // namespace atl
