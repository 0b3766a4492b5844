// The rows of `training`: how long, with what optimiser, loss, metric and regularisation.
#include "job/fields.h"

namespace atl {
namespace {

const char* const kAdamPaper = "Kingma & Ba 2015";
const char* const kGcnPaper = "Kipf & Welling 2017";

std::vector<Field> weight_decay_fields() {
  std::vector<Field> f;
  const std::string path = "training.optimizer.weightDecay";
  f.push_back({.path = path,
               .description = "by group of weights; one number sets convolutions and dense",
               .shorthand = {"convolutions", "dense"}});
  f.push_back({.path = path + ".convolutions",
               .type = FieldType::kNumber,
               .description = "of the convolutions' weights",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.weight_decay.convolutions; }),
               .minimum = 0,
               .maximum = 1});
  f.push_back({.path = path + ".dense",
               .type = FieldType::kNumber,
               .description = "of the linear layers' weights",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.weight_decay.dense; }),
               .minimum = 0,
               .maximum = 1});
  f.push_back(
      {.path = path + ".firstLayer",
       .type = FieldType::kNumber,
       .description = "of the first layer that has weights, in place of its group's; -1 = its group's",
       .slot = at([](Job & j) -> auto& { return j.training.optimizer.weight_decay.first_layer; }),
       .minimum = -1,
       .maximum = 1});
  return f;
}

std::vector<Field> optimizer_fields() {
  std::vector<Field> f;
  const UsedWith adam{"training.optimizer.kind", {"adam", "adamw"}};
  f.push_back({.path = "training.optimizer", .description = "how gradients change the weights"});
  f.push_back({.path = "training.optimizer.kind",
               .type = FieldType::kChoice,
               .description = "the rule",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.kind; }),
               .choices = {{"adam", "weight decay is added to the gradient"},
                           {"adamw", "weight decay apart from the gradient (Loshchilov & Hutter 2019)"},
                           {"sgd", "gradient descent with momentum"}},
               .source = kGcnPaper});
  f.push_back({.path = "training.optimizer.learningRate",
               .type = FieldType::kNumber,
               .description = "step size",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.learning_rate; }),
               .minimum = 0,
               .maximum = 100,
               .above_minimum = true,
               .source = kGcnPaper});
  for (auto& field : weight_decay_fields()) f.push_back(std::move(field));
  f.push_back({.path = "training.optimizer.momentum",
               .type = FieldType::kNumber,
               .description = "of sgd",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.momentum; }),
               .minimum = 0,
               .maximum = 1,
               .below_maximum = true,
               .used_with = {"training.optimizer.kind", {"sgd"}}});
  f.push_back({.path = "training.optimizer.beta1",
               .type = FieldType::kNumber,
               .description = "decay of the mean",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.beta1; }),
               .minimum = 0,
               .maximum = 1,
               .below_maximum = true,
               .source = kAdamPaper,
               .used_with = adam});
  f.push_back({.path = "training.optimizer.beta2",
               .type = FieldType::kNumber,
               .description = "decay of the square",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.beta2; }),
               .minimum = 0,
               .maximum = 1,
               .below_maximum = true,
               .source = kAdamPaper,
               .used_with = adam});
  f.push_back({.path = "training.optimizer.epsilon",
               .type = FieldType::kNumber,
               .description = "added to the root of the square",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.epsilon; }),
               .minimum = 0,
               .maximum = 1,
               .above_minimum = true,
               .source = kAdamPaper,
               .used_with = adam});
  f.push_back({.path = "training.optimizer.clipNorm",
               .type = FieldType::kNumber,
               .description = "largest 2-norm of the whole gradient; 0 = off",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.clip_norm; }),
               .minimum = 0});
  return f;
}

std::vector<Field> schedule_fields() {
  std::vector<Field> f;
  const std::string path = "training.learningRateSchedule";
  f.push_back(
      {.path = path, .description = "how the learning rate changes over epochs", .shorthand = {"kind"}});
  f.push_back({.path = path + ".kind",
               .type = FieldType::kChoice,
               .description = "its shape",
               .slot = at([](Job & j) -> auto& { return j.training.schedule.kind; }),
               .choices = {{"constant", ""},
                           {"cosine", "down to minimum at the last epoch"},
                           {"step", "times factor every stepEpochs"}}});
  f.push_back({.path = path + ".warmupEpochs",
               .type = FieldType::kInteger,
               .description = "linear rise from 0 first",
               .slot = at([](Job & j) -> auto& { return j.training.schedule.warmup_epochs; }),
               .unit = "epochs",
               .minimum = 0,
               .maximum = 1e9});
  f.push_back({.path = path + ".stepEpochs",
               .type = FieldType::kInteger,
               .description = "between two steps",
               .slot = at([](Job & j) -> auto& { return j.training.schedule.step_epochs; }),
               .unit = "epochs",
               .minimum = 1,
               .maximum = 1e9,
               .used_with = {path + ".kind", {"step"}}});
  f.push_back({.path = path + ".factor",
               .type = FieldType::kNumber,
               .description = "of one step",
               .slot = at([](Job & j) -> auto& { return j.training.schedule.factor; }),
               .minimum = 0,
               .maximum = 1,
               .above_minimum = true,
               .used_with = {path + ".kind", {"step"}}});
  f.push_back({.path = path + ".minimum",
               .type = FieldType::kNumber,
               .description = "learning rate at the last epoch",
               .slot = at([](Job & j) -> auto& { return j.training.schedule.minimum; }),
               .minimum = 0,
               .used_with = {path + ".kind", {"cosine"}}});
  return f;
}

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
