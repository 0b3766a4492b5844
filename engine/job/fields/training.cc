// The rows of `training`: duration, optimiser, loss, metric and regularisation.
#include "job/fields.h"
#include "job/models.h"
#include "job/strategies.h"

namespace atl {
namespace {

const char* const kGcnTraining = "Kipf & Welling 2017";

std::vector<Field> objective_fields() {
  std::vector<Field> f;
  f.push_back({.path = "training.setting",
               .type = FieldType::kChoice,
               .description = "which vertices the model sees in training",
               .slot = at([](Job & j) -> auto& { return j.training.setting; }),
               .choices = {{"transductive", "all vertices, but only the labels of training vertices"},
                           {"inductive",
                            "training vertices and the arcs between them; evaluation uses "
                            "the whole graph"}}});
  f.push_back({.path = "training.loss",
               .type = FieldType::kChoice,
               .description = "the loss function",
               .slot = at([](Job & j) -> auto& { return j.training.loss; }),
               .choices = {{"crossEntropy", "one class per vertex"},
                           {"binaryCrossEntropy", "several labels per vertex, summed over classes"}},
               .used_with = {"task", {"nodeClassification"}}});
  f.push_back(
      {.path = "training.metric",
       .type = FieldType::kChoice,
       .description = "the metric to report, as a fraction",
       .slot = at([](Job & j) -> auto& { return j.training.metric; }),
       .choices = {{"accuracy", "share of vertices whose class is predicted correctly"},
                   {"f1Micro", "over all labels together; a label is predicted where its logit is above 0"},
                   {"f1Macro",
                    "mean of the F1 of each class, so that rare classes count as much as frequent ones"},
                   {"rocAuc", "area under the ROC curve, mean over labels"}},
       .used_with = {"task", {"nodeClassification"}}});
  return f;
}

std::vector<Field> dropout_fields() {
  std::vector<Field> f;
  f.push_back({.path = "training.dropout",
               .type = FieldType::kNumber,
               .description = "share of hidden values set to 0",
               .slot = at([](Job & j) -> auto& { return j.training.dropout; }),
               .minimum = 0,
               .maximum = 1,
               .below_maximum = true,
               .source = kGcnTraining});
  f.push_back({.path = "training.inputDropout",
               .description = "dropout of the first layer's input; 0 is faster: the first aggregation is "
                              "computed once and reused",
               .shorthand = {"rate"}});
  f.push_back({.path = "training.inputDropout.rate",
               .type = FieldType::kNumber,
               .description = "share of input values set to 0",
               .slot = at([](Job & j) -> auto& { return j.training.input_dropout.rate; }),
               .minimum = 0,
               .maximum = 1,
               .below_maximum = true});
  f.push_back(
      {.path = "training.inputDropout.position",
       .type = FieldType::kChoice,
       .description = "where input dropout is applied",
       .slot = at([](Job & j) -> auto& { return j.training.input_dropout.position; }),
       .choices = {{"beforeAggregation", "before the first aggregation, as in the papers"},
                   {"afterAggregation", "after the first aggregation, which is computed once and reused"}},
       .source = kGcnTraining});
  f.push_back({.path = "training.attentionDropout",
               .type = FieldType::kNumber,
               .description = "share of attention coefficients set to 0",
               .slot = at([](Job & j) -> auto& { return j.training.attention_dropout; }),
               .minimum = 0,
               .maximum = 1,
               .below_maximum = true,
               .used_with = {"model.kind", models_that_read("training.attentionDropout")}});
  return f;
}

/// Strategies with several steps per epoch, which can be stopped within an epoch.
std::vector<std::string> of_several_steps() {
  std::vector<std::string> kinds;
  for (const StrategyInfo& info : strategy_infos())
    if (info.several_steps) kinds.push_back(info.kind);
  return kinds;
}

std::vector<Field> stopping_fields() {
  std::vector<Field> f;
  f.push_back({.path = "training.evaluateEvery",
               .type = FieldType::kInteger,
               .description = "number of epochs between two evaluations on the whole graph",
               .slot = at([](Job & j) -> auto& { return j.training.evaluate_every; }),
               .unit = "epochs",
               .minimum = 1,
               .maximum = 1e9});
  f.push_back({.path = "training.earlyStopping",
               .description = "stop when validation no longer improves",
               .shorthand = {"patience"}});
  f.push_back({.path = "training.earlyStopping.patience",
               .type = FieldType::kInteger,
               .description = "stop after this many epochs without improvement; 0 = never stop early",
               .slot = at([](Job & j) -> auto& { return j.training.early_stopping.patience; }),
               .unit = "epochs",
               .minimum = 0,
               .maximum = 1e9,
               .may_change = true});
  f.push_back({.path = "training.earlyStopping.metric",
               .type = FieldType::kChoice,
               .description = "the figure that must improve; the weights of its best epoch are kept",
               .slot = at([](Job & j) -> auto& { return j.training.early_stopping.metric; }),
               .choices = {{"validationMetric", "the higher the better"},
                           {"validationLoss", "the lower the better"}}});
  f.push_back({.path = "training.checkpoint",
               .description = "checkpoints, from which a killed run resumes",
               .shorthand = {"every"}});
  f.push_back({.path = "training.checkpoint.every",
               .type = FieldType::kInteger,
               .description = "number of epochs between two checkpoints; 0 = only when the run stops or ends",
               .slot = at([](Job & j) -> auto& { return j.training.checkpoint.every; }),
               .unit = "epochs",
               .minimum = 0,
               .maximum = 1e9,
               .may_change = true});
  f.push_back(
      {.path = "training.checkpoint.everySteps",
       .type = FieldType::kInteger,
       .description = "number of steps of mini-batches between two checkpoints within an epoch; 0 = none",
       .slot = at([](Job & j) -> auto& { return j.training.checkpoint.every_steps; }),
       .unit = "steps",
       .minimum = 0,
       .maximum = 1e9,
       .may_change = true,
       .used_with = {"strategy.kind", of_several_steps()}});
  f.push_back({.path = "training.checkpoint.keep",
               .type = FieldType::kInteger,
               .description = "how many of the newest checkpoints are kept",
               .slot = at([](Job & j) -> auto& { return j.training.checkpoint.keep; }),
               .minimum = 1,
               .maximum = 1000,
               .may_change = true});
  return f;
}

}  // namespace

std::vector<Field> training_fields() {
  std::vector<Field> f;
  f.push_back({.path = "training", .description = "how the model is trained"});
  f.push_back({.path = "training.epochs",
               .type = FieldType::kInteger,
               .description = "passes over the training vertices",
               .slot = at([](Job & j) -> auto& { return j.training.epochs; }),
               .unit = "epochs",
               .minimum = 1,
               .maximum = 1e9,
               .source = kGcnTraining,
               .may_change = true});
  for (auto* part : {optimizer_fields, schedule_fields, objective_fields, dropout_fields, stopping_fields}) {
    for (auto& field : part()) f.push_back(std::move(field));
  }
  f.push_back({.path = "training.seed",
               .type = FieldType::kInteger,
               .description = "seed of initial weights and dropout, 0 … 2⁶³ − 1",
               .slot = at([](Job & j) -> auto& { return j.training.seed; }),
               .minimum = 0});
  f.push_back(
      {.path = "training.precision",
       .type = FieldType::kChoice,
       .description = "number format of training",
       .slot = at([](Job & j) -> auto& { return j.training.precision; }),
       .choices = {
           {"float32", ""},
           {"bfloat16",
            "what layers compute, and its gradients, are stored, gathered and sent in 16 bits; weights, sums, and the "
            "last layer's output stay float32"}}});
  f.push_back(
      {.path = "training.deterministic",
       .type = FieldType::kFlag,
       .description =
           "add gradients of all ranks in rank order, so that every run gives the same bits; false: NCCL adds those "
           "of the GPUs that it links, in an order of its own",
       .slot = at([](Job & j) -> auto& { return j.training.deterministic; }),
       .may_change = true});
  f.push_back(
      {.path = "training.recompute",
       .type = FieldType::kChoice,
       .description = "which activations are computed again to save memory",
       .slot = at([](Job & j) -> auto& { return j.training.recompute; }),
       .choices = {{"none", "no activation: all are kept for the backward pass"},
                   {"layer", "every layer's activations, in the backward pass: less memory, more time"}},
       .may_change = true});
  return f;
}

}  // namespace atl
