// The table of models as manifests know them. A new model needs a file in this folder, its function here, and
// its place in the table. model/kinds.h has the same kinds as the engine makes them; a test compares the two.
#pragma once

#include <string>

#include "job/models.h"

namespace atl {

ModelInfo gcn_info(), sage_info(), gat_info(), gcnii_info(), resgcn_info(), sgc_info(), gin_info(),
    sign_info();

inline constexpr ModelInfo (*kModelInfos[])() = {
    gcn_info, sage_info, gat_info, gcnii_info, resgcn_info, sgc_info, gin_info, sign_info,
};

/// An option of a kind. Its type follows from the default's.
Field model_option(const std::string& kind, const std::string& name, Options::Value initial, Field rest);

/// The option `hops`: how many times rows are summed over neighbours. Models that share an option's name
/// share its text and range, because the CRD has one such option for all of them.
Field hops_option(const std::string& kind, std::int64_t initial, const char* source);

// Fields that some models ignore. Dense layers at the end suit only stacks of equal layers. Residual models
// have skip connections of their own.
inline constexpr const char *kSkipConnections = "model.skipConnections", *kDenseLayers = "model.denseLayers";

}  // namespace atl
