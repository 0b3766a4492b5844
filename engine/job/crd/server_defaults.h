// Which defaults the API server fills in. A stored job then keeps its meaning when a later release has other defaults,
// and the columns of `kubectl get` have values; and the filled-in manifest must resolve to the same job, without a
// warning that the one as written doesn't get.
#pragma once

#include "job/field.h"

namespace atl {

/// A constant default, and no model, strategy or other field makes it meaningless: `heads` is not filled into the
/// options of gcn, nor `momentum` into adam.
bool is_defaulted(const Field& field);

/// An object that is filled in, empty, so that its members can be: one that means nothing by its presence. Not
/// dataset.synthetic, which has a required member, nor a strategy's block.
bool is_object_defaulted(const Field& object);

}  // namespace atl
