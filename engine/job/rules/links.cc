// The rules of task linkPrediction.
#include "job/rule.h"
#include "job/samplers.h"
#include "job/strategies.h"

namespace atl {
namespace {

bool predicts_links(const Check& c) {
  return c.job.task == Task::kLinkPrediction;
}

const std::string kSymmetrise =
    "is not allowed with task linkPrediction: a held-out edge's reverse would be an arc (import the data set with "
    "--symmetrise, which leaves it out)";
const std::string kInductive =
    "inductive needs training vertices, and task linkPrediction has training edges (use transductive)";
const std::string kSynthetic =
    "has no edge split, which task linkPrediction needs (give dataset.name, of a data set that was imported with "
    "--edge-split random:85/5/10)";

void symmetrise(const Check& c) {
  if (predicts_links(c) && c.job.dataset.symmetrise) c.error("dataset.symmetrise", "{}", kSymmetrise);
}

void setting(const Check& c) {
  if (predicts_links(c) && c.job.training.setting == Setting::kInductive)
    c.error("training.setting", "{}", kInductive);
}

void synthetic(const Check& c) {
  if (predicts_links(c) && c.has("dataset.synthetic")) c.error("dataset.synthetic", "{}", kSynthetic);
}

std::string no_pairs_text(const StrategyInfo& info) {
  return info.kind + " doesn't train on pairs of vertices: " + info.no_pairs + " (use graph, or minibatch)";
}

void pairs_of_strategy(const Check& c) {
  const StrategyInfo& info = *c.job.strategy.row;
  if (predicts_links(c) && !info.no_pairs.empty()) c.error("strategy.kind", "{}", no_pairs_text(info));
}

const std::string kWholeSteps =
    "draws vertices for a whole step, and batches of pairs have none (use neighbour)";

void sampler_of_pairs(const Check& c) {
  if (predicts_links(c) && c.job.strategy.options.has("sampler") && !draws_by_vertex(c.job))
    c.error("strategy." + c.job.strategy.row->kind + ".sampler", "{} {}", sampler_of(c.job).name,
            kWholeSteps);
}

const std::string kNotLinks = "!has(self.task) || self.task != 'linkPrediction' || ";

Rule pairs_rule() {
  Rule rule{pairs_of_strategy};
  for (const StrategyInfo& info : strategy_infos())
    if (!info.no_pairs.empty())
      rule.server.push_back(
          {"", "strategy.kind",
           kNotLinks + "!has(self.strategy) || !has(self.strategy.kind) || self.strategy.kind != '" +
               info.kind + "'",
           no_pairs_text(info)});
  return rule;
}

/// The rule that a strategy's sampler draws by vertex. The first sampler, which is the default, does.
Rule sampler_rule() {
  Rule rule{sampler_of_pairs};
  for (const StrategyInfo& info : strategy_infos())
    for (const Field& option : info.options) {
      if (option_name(option) != "sampler" || option.choices.size() < 2) continue;
      const std::string block = "self.strategy." + info.kind;
      rule.server.push_back({"", option.path,
                             kNotLinks + "!has(self.strategy) || !has(" + block + ") || !has(" + block +
                                 ".sampler) || " + block + ".sampler == '" + option.choices.front().name +
                                 "'",
                             "", "'%s " + kWholeSteps + "'.format([" + block + ".sampler])"});
    }
  return rule;
}

}  // namespace

std::vector<Rule> link_rules() {
  return {{symmetrise,
           {{"", "dataset.symmetrise",
             kNotLinks + "!has(self.dataset.symmetrise) || !self.dataset.symmetrise", kSymmetrise}}},
          {setting,
           {{"", "training.setting",
             kNotLinks +
                 "!has(self.training) || !has(self.training.setting) || self.training.setting != 'inductive'",
             kInductive}}},
          {synthetic, {{"", "dataset.synthetic", kNotLinks + "!has(self.dataset.synthetic)", kSynthetic}}},
          sampler_rule(),
          pairs_rule()};
}

}  // namespace atl
