// Activations, and the constants of activations and norms, shared by the catalogue and the inner loops.
#pragma once

#include "base/types.h"

namespace atl {

enum class Activation { kNone, kRelu, kElu, kLeakyRelu };  // ELU's α = 1

inline constexpr Real kLeakySlope = Real(0.2);
/// Added to the variance by layer and batch norm.
inline constexpr double kNormEpsilon = 1e-5;

}  // namespace atl
