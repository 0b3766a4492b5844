// What the explanation came to whose masks a rank uses, for people: which vertices of other ranks and which
// features matter to it.
#pragma once

#include <vector>

#include "base/types.h"

namespace atl {

struct ExplainedFigures {
  struct Named {
    VertexId id = 0;  // the data set's vertex, or the column
    double mask = 0;
  };
  Index others = 0, features = 0;        // how many there are
  Index chosen = 0;                      // of the features
  std::vector<Named> vertices, columns;  // those with the largest masks that applied, the largest first
  double least_vertex = 0, middle_vertex = 0, least_column = 0, middle_column = 0;  // masks
  int epochs = 0;  // that masks were trained; 0: no explanation has ended
  double first_loss = 0, loss = 0;
  double seconds = 0;      // of the explainer, over all explanations
  Index explanations = 0;  // that it has made
};

}  // namespace atl
