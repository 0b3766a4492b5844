// The feature columns that a rank holds, for all vertices, where features are divided by columns (P3: Gandhi
// & Iyer 2021, section 3.1).
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/types.h"

namespace atl {

struct ColumnShare {
  Index whole = 0;          // columns of the features
  std::vector<Rank> group;  // ranks that hold all columns between them, in the order of columns
  int place = 0;            // this rank's place in the group

  int members() const { return int(group.size()); }
  bool is_split() const { return members() > 1; }
  /// The member at place `of` holds adjacent columns: the first one, and how many. Members' numbers of
  /// columns differ by at most one.
  Index first_of(int of) const { return whole * of / members(); }
  Index count_of(int of) const { return first_of(of + 1) - first_of(of); }
  Index first() const { return first_of(place); }
  Index count() const { return count_of(place); }
};

/// The share of `rank`, which is in the group.
inline ColumnShare column_share(Index whole, std::vector<Rank> group, Rank rank) {
  ColumnShare share{whole, std::move(group), 0};
  share.place = int(std::ranges::find(share.group, rank) - share.group.begin());
  return share;
}

}  // namespace atl
