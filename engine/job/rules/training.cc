// The rules of `training`, and those of `model` that involve it.
#include "job/models.h"
#include "job/rule.h"

namespace atl {
namespace {

const std::string kOneClass =
    "accuracy needs one class per vertex, but binaryCrossEntropy means several labels (use f1Micro, f1Macro or rocAuc)";

void loss_and_metric(const Check& c) {
  const auto& t = c.job.training;
  if (c.job.task == Task::kLinkPrediction) return;  // this task uses neither
  if (t.loss == Loss::kBinaryCrossEntropy && t.metric == Metric::kAccuracy)
    c.error("training.metric", "{}", kOneClass);
}

/// Settings that a model's definition rules out.
void model_and_training(const Check& c) {
  const auto& t = c.job.training;
  const ModelInfo* model = find_model(c.job.model.kind);
  const bool drops_after =
      t.input_dropout.rate > 0 && t.input_dropout.position == DropoutPosition::kAfterAggregation;
  if (drops_after && model != nullptr && model->drops_input_first) {
    c.error("training.inputDropout.position",
            "{} applies input dropout before its first layer (use beforeAggregation)", model->kind);
  }
  const bool drops_before =
      t.input_dropout.rate > 0 && t.input_dropout.position == DropoutPosition::kBeforeAggregation;
  if (drops_before && model != nullptr && model->aggregates_first)
    c.error("training.inputDropout.position",
            "{} sums over neighbours once, before anything can be dropped out (use afterAggregation)",
            model->kind);
}

void epochs(const Check& c) {
  const auto& t = c.job.training;
  if (t.schedule.warmup_epochs >= t.epochs) {
    c.error("training.learningRateSchedule.warmupEpochs", "{} is not below training.epochs {} (use less)",
            t.schedule.warmup_epochs, t.epochs);
  }
  if (t.schedule.kind == ScheduleKind::kCosine && t.schedule.minimum > t.optimizer.learning_rate) {
    c.error("training.learningRateSchedule.minimum",
            "{} is above training.optimizer.learningRate {} (use at most the learning rate)",
            t.schedule.minimum, t.optimizer.learning_rate);
  }
  if (t.early_stopping.patience > 0 && t.early_stopping.patience < t.evaluate_every) {
    c.error("training.earlyStopping.patience",
            "{} is below training.evaluateEvery {} (use at least as many epochs)", t.early_stopping.patience,
            t.evaluate_every);
  }
}

}  // namespace

std::vector<Rule> training_rules() {
  const ServerRule metric{"", "training.metric",
                          "(has(self.task) && self.task == 'linkPrediction') || !has(self.training) || "
                          "!has(self.training.loss) || self.training.loss != 'binaryCrossEntropy' || "
                          "(has(self.training.metric) && self.training.metric != 'accuracy')",
                          kOneClass};
  return {{loss_and_metric, {metric}}, {model_and_training}, {epochs}};
}

}  // namespace atl
