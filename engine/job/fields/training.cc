// The rows of `training`: how long, with what optimiser, loss, metric and regularisation.
#include "job/fields.h"

namespace atl {
namespace {

const char* const kGcnPaper = "Kipf & Welling 2017";

std::vector<Field> objective_fields() {
  std::vector<Field> f;
  f.push_back({.path = "training.setting",
               .type = FieldType::kChoice,
               .description = "which vertices the model sees while it learns",
               .slot = at([](Job & j) -> auto& { return j.training.setting; }),
               .choices = {{"transductive", "all vertices; labels of training vertices"},
                           {"inductive", "the graph induced by training vertices; evaluated on the whole"}}});
  f.push_back({.path = "training.loss",
               .type = FieldType::kChoice,
               .description = "what is made small",
               .slot = at([](Job & j) -> auto& { return j.training.loss; }),
               .choices = {{"crossEntropy", "one class per vertex"},
                           {"binaryCrossEntropy", "several labels per vertex, summed over classes"}}});
  f.push_back({.path = "training.metric",
               .type = FieldType::kChoice,
               .description = "what is reported, as a fraction",
               .slot = at([](Job & j) -> auto& { return j.training.metric; }),
               .choices = {{"accuracy", ""},
                           {"f1Micro", "over all labels; a label is on where its logit is above 0"},
                           {"rocAuc", "area under the ROC curve, mean over labels"}}});
  return f;
}

std::vector<Field> dropout_fields() {
  std::vector<Field> f;
  f.push_back({.path = "training.dropout",
               .type = FieldType::kNumber,
               .description = "share of hidden values zeroed",
               .slot = at([](Job & j) -> auto& { return j.training.dropout; }),
               .minimum = 0,
               .maximum = 1,
               .below_maximum = true,
               .source = kGcnPaper});
  f.push_back({.path = "training.inputDropout",
               .description = "dropout of the first layer's input; 0 lets its aggregation be computed once",
               .shorthand = {"rate"}});
  f.push_back({.path = "training.inputDropout.rate",
               .type = FieldType::kNumber,
               .description = "share zeroed",
               .slot = at([](Job & j) -> auto& { return j.training.input_dropout.rate; }),
               .minimum = 0,
               .maximum = 1,
               .below_maximum = true});
  f.push_back({.path = "training.inputDropout.position",
               .type = FieldType::kChoice,
               .description = "before or after the first aggregation",
               .slot = at([](Job & j) -> auto& { return j.training.input_dropout.position; }),
               .choices = {{"beforeAggregation", "as the papers do"},
                           {"afterAggregation", "the first aggregation can then be computed once"}},
               .source = kGcnPaper});
  f.push_back({.path = "training.attentionDropout",
               .type = FieldType::kNumber,
               .description = "share of attention coefficients zeroed",
               .slot = at([](Job & j) -> auto& { return j.training.attention_dropout; }),
               .minimum = 0,
               .maximum = 1,
               .below_maximum = true,
               .used_with = {"model.kind", {"gat"}}});
  return f;
}

std::vector<Field> stopping_fields() {
  std::vector<Field> f;
  f.push_back({.path = "training.evaluateEvery",
               .type = FieldType::kInteger,
               .description = "evaluate on the whole graph every so many epochs",
               .slot = at([](Job & j) -> auto& { return j.training.evaluate_every; }),
               .unit = "epochs",
               .minimum = 1,
               .maximum = 1e9});
  f.push_back({.path = "training.earlyStopping",
               .description = "stop when validation no longer improves",
               .shorthand = {"patience"}});
  f.push_back({.path = "training.earlyStopping.patience",
               .type = FieldType::kInteger,
               .description = "epochs without improvement; 0 = never stop early",
               .slot = at([](Job & j) -> auto& { return j.training.early_stopping.patience; }),
               .unit = "epochs",
               .minimum = 0,
               .maximum = 1e9,
               .may_change = true});
  f.push_back({.path = "training.earlyStopping.metric",
               .type = FieldType::kChoice,
               .description = "what is watched; also chooses the best epoch, whose weights are kept",
               .slot = at([](Job & j) -> auto& { return j.training.early_stopping.metric; }),
               .choices = {{"validationMetric", "the higher the better"},
                           {"validationLoss", "the lower the better"}}});
  f.push_back({.path = "training.checkpoint",
               .description = "what a killed run resumes from",
               .shorthand = {"every"}});
  f.push_back({.path = "training.checkpoint.every",
               .type = FieldType::kInteger,
               .description = "write one every so many epochs; 0 = only when stopped and at the end",
               .slot = at([](Job & j) -> auto& { return j.training.checkpoint.every; }),
               .unit = "epochs",
               .minimum = 0,
               .maximum = 1e9,
               .may_change = true});
  f.push_back({.path = "training.checkpoint.keep",
               .type = FieldType::kInteger,
               .description = "how many newest are kept",
               .slot = at([](Job & j) -> auto& { return j.training.checkpoint.keep; }),
               .minimum = 1,
               .maximum = 1000,
               .may_change = true});
  return f;
}

}  // namespace

std::vector<Field> training_fields() {
  std::vector<Field> f;
  f.push_back({.path = "training", .description = "how the model learns"});
  f.push_back({.path = "training.epochs",
               .type = FieldType::kInteger,
               .description = "passes over the training vertices",
               .slot = at([](Job & j) -> auto& { return j.training.epochs; }),
               .unit = "epochs",
               .minimum = 1,
               .maximum = 1e9,
               .source = kGcnPaper,
               .may_change = true});
  for (auto* part : {optimizer_fields, schedule_fields, objective_fields, dropout_fields, stopping_fields}) {
    for (auto& field : part()) f.push_back(std::move(field));
  }
  f.push_back({.path = "training.seed",
               .type = FieldType::kInteger,
               .description = "of initial weights and dropout",
               .slot = at([](Job & j) -> auto& { return j.training.seed; }),
               .minimum = 0});
  f.push_back(
      {.path = "training.precision",
       .type = FieldType::kChoice,
       .description = "number format of training",
       .slot = at([](Job & j) -> auto& { return j.training.precision; }),
       .choices = {{"float32", ""}, {"bfloat16", "storage in 16 bits, sums in 32", false, "float32"}}});
  f.push_back({.path = "training.recompute",
               .type = FieldType::kChoice,
               .description = "trade time for memory",
               .slot = at([](Job & j) -> auto& { return j.training.recompute; }),
               .choices = {{"none", "keep activations for the backward pass"},
                           {"layer", "drop them and compute them again in the backward pass"}},
               .may_change = true});
  return f;
}

}  // namespace atl
