// The table of models, as manifests know them: a new one is a file in this folder, its function here, and its
// place in the table. The same kinds are in model/kinds.h, as the engine makes them; a test compares the two.
#pragma once

#include <string>

#include "job/models.h"

namespace atl {

ModelInfo gcn_info(), sage_info(), gat_info(), gcnii_info(), resgcn_info(), sgc_info(), gin_info(),
    sign_info();

inline constexpr ModelInfo (*kModelInfos[])() = {
    gcn_info, sage_info, gat_info, gcnii_info, resgcn_info, sgc_info, gin_info, sign_info,
};

/// An option of a kind; its type follows from the default's.
Field model_option(const std::string& kind, const std::string& name, Options::Value initial, Field rest);

/// How many times rows are summed over neighbours before what is learned; the CRD has one such option for all
/// models that have it.
Field hops_option(const std::string& kind, std::int64_t initial, const char* source);

// Dense layers at the end are for stacks of equal layers alone; residual models have their own connections.
inline constexpr const char *kSkipConnections = "model.skipConnections", *kDenseLayers = "model.denseLayers";

}  // namespace atl
