// The explanation whose masks a rank uses, for people: which vertices of other ranks and which features
// matter to it.
#pragma once

#include <vector>

#include "base/members.h"
#include "base/types.h"

namespace atl {

struct ExplainedFigures {
  struct Named {
    VertexId id = 0;  // the data set's vertex, or the column
    double mask = 0;
    static constexpr auto members() { return std::tuple{&Named::id, &Named::mask}; }
  };
  /// The least and the median of all masks in use.
  struct Spread {
    double least = 0, middle = 0;
    static constexpr auto members() { return std::tuple{&Spread::least, &Spread::middle}; }
  };
  /// In the first epoch and in the last.
  struct Losses {
    double first = 0, last = 0;
    static constexpr auto members() { return std::tuple{&Losses::first, &Losses::last}; }
  };
  Index others = 0, features = 0;        // numbers of vertices and columns
  Index chosen = 0;                      // how many features were chosen
  std::vector<Named> vertices, columns;  // those with the largest masks in use, the largest first
  Spread vertex_masks, column_masks;
  int epochs = 0;  // for how many the masks were trained; 0: no explanation has ended
  Losses loss;
  double seconds = 0;      // spent explaining, over all explanations
  Index explanations = 0;  // how many were made

  static constexpr auto members() {
    return std::tuple{Key{"others", &ExplainedFigures::others},
                      Key{"features", &ExplainedFigures::features},
                      Key{"chosen", &ExplainedFigures::chosen},
                      Key{"vertices", &ExplainedFigures::vertices},
                      Key{"columns", &ExplainedFigures::columns},
                      Key{"vertexMasks", &ExplainedFigures::vertex_masks},
                      Key{"columnMasks", &ExplainedFigures::column_masks},
                      Key{"epochs", &ExplainedFigures::epochs},
                      Key{"loss", &ExplainedFigures::loss},
                      Key{"seconds", &ExplainedFigures::seconds},
                      Key{"explanations", &ExplainedFigures::explanations}};
  }
};

}  // namespace atl
