// The rows of `training.optimizer` and `training.learningRateSchedule`.
#include "job/fields.h"

namespace atl {
namespace {

const char* const kAdamPaper = "Kingma & Ba 2015";
const char* const kGcnPaper = "Kipf & Welling 2017";

std::vector<Field> weight_decay_fields() {
  std::vector<Field> f;
  const std::string path = "training.optimizer.weightDecay";
  f.push_back({.path = path,
               .description = "weight decay by group of weights; a single number sets convolutions and dense",
               .shorthand = {"convolutions", "dense"}});
  f.push_back({.path = path + ".convolutions",
               .type = FieldType::kNumber,
               .description = "weight decay of the convolutions",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.weight_decay.convolutions; }),
               .minimum = 0,
               .maximum = 1});
  f.push_back({.path = path + ".dense",
               .type = FieldType::kNumber,
               .description = "weight decay of the linear layers",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.weight_decay.dense; }),
               .minimum = 0,
               .maximum = 1});
  f.push_back({.path = path + ".firstLayer",
               .type = FieldType::kNumber,
               .description = "weight decay of the first layer with weights, instead of its group's",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.weight_decay.first_layer; }),
               .minimum = 0,
               .maximum = 1,
               .default_text = "its group's"});
  return f;
}

/// Fields that only adam and adamw read.
std::vector<Field> adam_fields() {
  std::vector<Field> f;
  const UsedWith adam{"training.optimizer.kind", {"adam", "adamw"}};
  f.push_back({.path = "training.optimizer.beta1",
               .type = FieldType::kNumber,
               .description = "decay rate of the running mean of gradients",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.beta1; }),
               .minimum = 0,
               .maximum = 1,
               .below_maximum = true,
               .source = kAdamPaper,
               .used_with = adam});
  f.push_back({.path = "training.optimizer.beta2",
               .type = FieldType::kNumber,
               .description = "decay rate of the running mean of squared gradients",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.beta2; }),
               .minimum = 0,
               .maximum = 1,
               .below_maximum = true,
               .source = kAdamPaper,
               .used_with = adam});
  f.push_back({.path = "training.optimizer.epsilon",
               .type = FieldType::kNumber,
               .description = "added to the denominator, for stability",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.epsilon; }),
               .minimum = 0,
               .maximum = 1,
               .above_minimum = true,
               .source = kAdamPaper,
               .used_with = adam});
  return f;
}

}  // namespace

std::vector<Field> optimizer_fields() {
  std::vector<Field> f;
  f.push_back({.path = "training.optimizer", .description = "how gradients update the weights"});
  f.push_back(
      {.path = "training.optimizer.kind",
       .type = FieldType::kChoice,
       .description = "the update rule",
       .slot = at([](Job & j) -> auto& { return j.training.optimizer.kind; }),
       .choices = {{"adam", "weight decay is added to the gradient"},
                   {"adamw", "weight decay is applied apart from the gradient (Loshchilov & Hutter 2019)"},
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
               .description = "momentum of sgd",
               .slot = at([](Job & j) -> auto& { return j.training.optimizer.momentum; }),
               .minimum = 0,
               .maximum = 1,
               .below_maximum = true,
               .used_with = {"training.optimizer.kind", {"sgd"}}});
  for (auto& field : adam_fields()) f.push_back(std::move(field));
  f.push_back({.path = "training.optimizer.clipNorm",
               .type = FieldType::kNumber,
               .description = "a gradient with a larger 2-norm is scaled down to this norm; 0 = off",
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
               .description = "shape of the schedule",
               .slot = at([](Job & j) -> auto& { return j.training.schedule.kind; }),
               .choices = {{"constant", ""},
                           {"cosine", "falls along a cosine to minimum at the last epoch"},
                           {"step", "is multiplied by factor every stepEpochs epochs"}}});
  f.push_back({.path = path + ".warmupEpochs",
               .type = FieldType::kInteger,
               .description = "epochs at the start in which the learning rate rises linearly from 0",
               .slot = at([](Job & j) -> auto& { return j.training.schedule.warmup_epochs; }),
               .unit = "epochs",
               .minimum = 0,
               .maximum = 1e9});
  f.push_back({.path = path + ".stepEpochs",
               .type = FieldType::kInteger,
               .description = "epochs between two steps",
               .slot = at([](Job & j) -> auto& { return j.training.schedule.step_epochs; }),
               .unit = "epochs",
               .minimum = 1,
               .maximum = 1e9,
               .used_with = {path + ".kind", {"step"}}});
  f.push_back({.path = path + ".factor",
               .type = FieldType::kNumber,
               .description = "factor of one step",
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

}  // namespace atl
