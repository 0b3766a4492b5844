// The explanation whose masks a rank uses, for people: which vertices of other ranks and which features
// matter to it.
#pragma once

#include <vector>

#include "base/types.h"

namespace atl {

struct ExplainedFigures {
  struct Named {
    VertexId id = 0;  // the data set's vertex, or the column
    double mask = 0;
  };
  Index others = 0, features = 0;        // numbers of vertices and columns
  Index chosen = 0;                      // how many features were chosen
  std::vector<Named> vertices, columns;  // those with the largest masks in use, the largest first
  double least_vertex = 0, middle_vertex = 0, least_column = 0, middle_column = 0;  // masks
  int epochs = 0;  // for which the masks were trained; 0: no explanation has ended
  double first_loss = 0, loss = 0;
  double seconds = 0;      // spent explaining, over all explanations
  Index explanations = 0;  // how many were made
};

}  // namespace atl
