// The rows of `linkPrediction`: how pairs of vertices are scored, trained on and measured.
#include "job/fields.h"

namespace atl {

std::vector<Field> link_fields() {
  const UsedWith task{"task", {"linkPrediction"}};
  std::vector<Field> f;
  f.push_back({.path = "linkPrediction", .description = "how edges are predicted, with task linkPrediction"});
  f.push_back(
      {.path = "linkPrediction.decoder",
       .type = FieldType::kChoice,
       .description = "the score of a pair, from the last layer's rows of its ends (model.hidden columns)",
       .slot = at([](Job & j) -> auto& { return j.links.decoder; }),
       .choices = {{"dot", "their dot product"},
                   {"mlp", "linear layers with ReLU between them, of their product column by column"}},
       .used_with = task});
  f.push_back({.path = "linkPrediction.decoderLayers",
               .type = FieldType::kInteger,
               .description = "linear layers of decoder mlp; all but the last are as wide as model.hidden",
               .slot = at([](Job & j) -> auto& { return j.links.decoder_layers; }),
               .minimum = 1,
               .maximum = 100,
               .source = "the link predictors of OGB's examples have 3",
               .used_with = {"linkPrediction.decoder", {"mlp"}}});
  f.push_back({.path = "linkPrediction.negatives",
               .type = FieldType::kInteger,
               .description = "negative pairs per training edge, drawn anew in each step",
               .slot = at([](Job & j) -> auto& { return j.links.negatives; }),
               .minimum = 1,
               .maximum = 1000,
               .used_with = task});
  f.push_back({.path = "linkPrediction.metric",
               .type = FieldType::kChoice,
               .description = "the metric to report, as a fraction; results have all of them",
               .slot = at([](Job & j) -> auto& { return j.links.metric; }),
               .choices = {{"rocAuc", "area under the ROC curve"},
                           {"averagePrecision", "mean precision over the edges, by descending score"},
                           {"hits", "share of edges that score above the K-th best negative pair (hitsAt)"},
                           {"mrr", "mean of 1 / rank of an edge among all negative pairs"}},
               .used_with = task});
  f.push_back({.path = "linkPrediction.hitsAt",
               .type = FieldType::kInteger,
               .description = "the K of metric hits",
               .slot = at([](Job & j) -> auto& { return j.links.hits_at; }),
               .minimum = 1,
               .maximum = 1e9,
               .source = "OGB's ogbl-collab; its ogbl-ddi has 20",
               .used_with = {"linkPrediction.metric", {"hits"}}});
  return f;
}

}  // namespace atl
