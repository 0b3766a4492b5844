// The rows of `dataset`: the graph, its split, and changes to it before training.
#include "job/fields.h"

namespace atl {
namespace {

const char* const kNeeded = "the preset's; required without a preset";

/// The fields of the generated graph's size, and of how alike neighbours are. A preset sets the same fields.
std::vector<Field> synthetic_shape_fields() {
  std::vector<Field> f;
  f.push_back({.path = "dataset.synthetic.vertices",
               .type = FieldType::kCount,
               .description = "number of vertices; with a preset, give either this or scale",
               .slot = at([](Job & j) -> auto& { return j.dataset.synthetic.vertices; }),
               .unit = "vertices",
               .minimum = 16,
               .maximum = 1073741823,
               .default_text = kNeeded});
  f.push_back({.path = "dataset.synthetic.averageDegree",
               .type = FieldType::kNumber,
               .description = "arcs per vertex, at most a quarter of the vertices",
               .slot = at([](Job & j) -> auto& { return j.dataset.synthetic.average_degree; }),
               .unit = "arcs",
               .minimum = 1,
               .maximum = 1e6,
               .default_text = kNeeded});
  f.push_back({.path = "dataset.synthetic.features",
               .type = FieldType::kCount,
               .description = "features per vertex",
               .slot = at([](Job & j) -> auto& { return j.dataset.synthetic.features; }),
               .unit = "columns",
               .minimum = 1,
               .maximum = 1e6,
               .default_text = kNeeded});
  f.push_back({.path = "dataset.synthetic.classes",
               .type = FieldType::kCount,
               .description = "number of classes",
               .slot = at([](Job & j) -> auto& { return j.dataset.synthetic.classes; }),
               .minimum = 2,
               .maximum = 1e6,
               .default_text = kNeeded});
  f.push_back({.path = "dataset.synthetic.homophily",
               .type = FieldType::kNumber,
               .description = "share of arcs between vertices of the same class",
               .slot = at([](Job & j) -> auto& { return j.dataset.synthetic.homophily; }),
               .minimum = 0,
               .maximum = 0.99,
               .default_text = "0.7, or the preset's"});
  f.push_back({.path = "dataset.synthetic.trainShare",
               .type = FieldType::kNumber,
               .description = "share of the vertices that train; a quarter, or the preset's share, validates",
               .slot = at([](Job & j) -> auto& { return j.dataset.synthetic.train_share; }),
               .minimum = 0,
               .maximum = 0.75,
               .above_minimum = true,
               .default_text = "0.5, or the preset's"});
  return f;
}

std::vector<Field> synthetic_fields() {
  std::vector<Field> f;
  f.push_back({.path = "dataset.synthetic",
               .description =
                   "a generated graph instead of a stored one; give preset, or vertices, averageDegree, "
                   "features and classes"});
  f.push_back({.path = "dataset.synthetic.kind",
               .type = FieldType::kChoice,
               .description = "how the graph is generated",
               .slot = at([](Job & j) -> auto& { return j.dataset.synthetic.kind; }),
               .choices = {{"community", "stochastic blocks, power-law degrees, class-dependent features"}},
               .required = true});
  f.push_back({.path = "dataset.synthetic.preset",
               .type = FieldType::kChoice,
               .description = "the known graph to imitate; the other fields of dataset.synthetic override "
                              "its numbers",
               .slot = at([](Job & j) -> auto& { return j.dataset.synthetic.preset; }),
               .choices = {{"reddit", "233k vertices, 115M arcs, 602 features, 41 classes"},
                           {"products", "2.4M vertices, 124M arcs, 100 features, 47 classes"},
                           {"yelp", "717k vertices, 14M arcs, 300 features, 100 classes, multi-label"},
                           {"flickr", "89k vertices, 0.9M arcs, 500 features, 7 classes"}}});
  f.push_back({.path = "dataset.synthetic.scale",
               .type = FieldType::kNumber,
               .description =
                   "number of vertices relative to the preset; degrees stay unless classes become too small",
               .slot = at([](Job & j) -> auto& { return j.dataset.synthetic.scale; }),
               .minimum = 0,
               .maximum = 100,
               .above_minimum = true,
               .used_with = {"dataset.synthetic.preset", {"reddit", "products", "yelp", "flickr"}}});
  for (auto& field : synthetic_shape_fields()) f.push_back(std::move(field));
  f.push_back(
      {.path = "dataset.synthetic.seed",
       .type = FieldType::kInteger,
       .description = "seed of the generator, 0 … 2⁶³ − 1; the same seed gives the same graph, byte for byte",
       .slot = at([](Job & j) -> auto& { return j.dataset.synthetic.seed; }),
       .minimum = 0});
  return f;
}

}  // namespace

std::vector<Field> dataset_fields() {
  std::vector<Field> f;
  f.push_back({.path = "dataset",
               .description = "the graph, its features, labels and split",
               .required = true,
               .example = "dataset: {name: cora}"});
  f.push_back({.path = "dataset.name",
               .type = FieldType::kText,
               .description =
                   "folder of the data set under the data root (--data-root, ATOLL_DATA_ROOT or ./datasets)",
               .slot = at([](Job & j) -> auto& { return j.dataset.name; }),
               .default_text = "required unless dataset.synthetic is given"});
  f.push_back({.path = "dataset.split",
               .type = FieldType::kText,
               .description = "name of a split of the data set; atoll dataset info lists them",
               .slot = at([](Job & j) -> auto& { return j.dataset.split; })});
  f.push_back({.path = "dataset.splitColumn",
               .type = FieldType::kInteger,
               .description = "which column to use when the split has several, counted from 0",
               .slot = at([](Job & j) -> auto& { return j.dataset.split_column; }),
               .minimum = 0,
               .maximum = 1e6});
  f.push_back({.path = "dataset.symmetrise",
               .type = FieldType::kFlag,
               .description = "add the reverse of every arc and drop duplicates",
               .slot = at([](Job & j) -> auto& { return j.dataset.symmetrise; })});
  f.push_back(
      {.path = "dataset.selfLoops",
       .type = FieldType::kChoice,
       .description = "arcs from a vertex to itself",
       .slot = at([](Job & j) -> auto& { return j.dataset.self_loops; }),
       .choices = {
           {"model",
            "as the model defines them: gcn, gcnii, sgc, sign, gat and sage with meanWithSelf or gcn give "
            "each vertex one; sage with mean, gin and resgcn keep those of the data set, as PyG and DGL do"},
           {"keep", "as they are in the data set"},
           {"add", "exactly one per vertex"},
           {"remove", "none"}}});
  f.push_back({.path = "dataset.normaliseFeatures",
               .type = FieldType::kChoice,
               .description = "scaling of features before training",
               .slot = at([](Job & j) -> auto& { return j.dataset.normalise_features; }),
               .choices = {{"none", "as stored"},
                           {"row", "divide each vertex's features by the sum of their magnitudes"}}});
  f.push_back({.path = "dataset.volume",
               .type = FieldType::kFree,
               .description = "on a cluster: pod volume source for the data root",
               .slot = at([](Job & j) -> auto& { return j.dataset.volume; }),
               .may_change = true});
  f.push_back({.path = "dataset.prepared",
               .type = FieldType::kFree,
               .description =
                   "on a cluster: pod volume source for prepared graphs, for data in a volume that "
                   "can't be written",
               .slot = at([](Job & j) -> auto& { return j.dataset.prepared; }),
               .default_text = "in the volume of the data root",
               .may_change = true});
  for (auto& field : synthetic_fields()) f.push_back(std::move(field));
  return f;
}

}  // namespace atl
