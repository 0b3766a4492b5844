#include "job/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "job/assign.h"
#include "job/fields.h"
#include "job/models.h"
#include "job/strategies.h"

namespace atl {
namespace {

/// What every rule reads and writes.
struct Check {
  const Job& job;
  const Given& given;
  Problems& problems;

  bool has(const std::string& path) const { return given.contains(path); }

  template <class... Args>
  void error(const std::string& path, fmt::format_string<Args...> format, Args&&... args) const {
    problems.error(where_of(given, path), path, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void warning(const std::string& path, fmt::format_string<Args...> format, Args&&... args) const {
    problems.warning(where_of(given, path), path, fmt::format(format, std::forward<Args>(args)...));
  }
};

/// A field that must be given, where the object around it is.
void required_fields(const Check& c) {
  for (const Field* field : fields_for(c.job.model.kind, c.job.strategy.kind)) {
    if (!field->required || c.has(field->path)) continue;
    const std::string parent = field_parent(field->path);
    const bool metadata = parent == "metadata";
    if (!metadata && !c.has(parent)) continue;
    const std::string use = field->type == FieldType::kObject ? field->description : allowed_text(*field);
    c.error(field->path, "is missing (use {})", use);
  }
}

void job_name(const Check& c) {
  const std::string& name = c.job.name;
  if (!c.has("metadata.name") || (name.empty() && !c.problems.errors.empty())) return;  // already told
  auto inner = [](char ch) {
    return (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') || ch == '-' || ch == '.';
  };
  auto edge = [&](char ch) { return inner(ch) && ch != '-' && ch != '.'; };
  const bool good = !name.empty() && name.size() <= 63 && std::all_of(name.begin(), name.end(), inner) &&
                    edge(name.front()) && edge(name.back());
  if (!good)
    c.error("metadata.name", "'{}' is no name (use lower case letters, digits, '-' and '.', at most 63)",
            name);
}

/// A folder below another one: relative, and no way out of it.
bool stays_inside(const std::string& path) {
  if (path.empty() || path.front() == '/') return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") return false;
    begin = end + 1;
  }
  return true;
}

void data_source(const Check& c) {
  if (!c.has("dataset")) return;
  const bool name = c.has("dataset.name"), synthetic = c.has("dataset.synthetic");
  if (name && synthetic) c.error("dataset.synthetic", "a data set is either named or synthetic (remove one)");
  if (!name && !synthetic)
    c.error("dataset.name", "is missing (name a folder under the data root, or give dataset.synthetic)");
  if (name && !stays_inside(c.job.dataset.name)) {
    c.error("dataset.name", "'{}' must be a folder under the data root (a relative path without ..)",
            c.job.dataset.name);
  }
}

void synthetic_shape(const Check& c) {
  if (!c.has("dataset.synthetic")) return;
  const auto& s = c.job.dataset.synthetic;
  for (const char* name : {"vertices", "averageDegree", "features", "classes"}) {
    const std::string path = std::string("dataset.synthetic.") + name;
    if (s.preset.empty() && !c.has(path))
      c.error(path, "is missing (give it, or a preset: reddit, products, yelp, flickr)");
  }
  if (!s.preset.empty() && s.vertices > 0 && s.scale != 1) {
    c.error("dataset.synthetic.vertices",
            "{} vertices and scale {} of preset {}: both say its size (remove one)", s.vertices, s.scale,
            s.preset);
  }
  if (s.vertices > 0 && s.average_degree >= double(s.vertices)) {
    c.error("dataset.synthetic.averageDegree", "{} needs more than {} vertices", s.average_degree,
            s.vertices);
  }
  if (s.vertices > 0 && c.job.placement.ranks > s.vertices) {
    c.error("placement.ranks", "{} ranks for {} vertices (use at most one rank a vertex)",
            c.job.placement.ranks, s.vertices);
  }
}

/// "1, 2, 4 or 8"
std::string divisors(int n) {
  std::vector<int> all;
  for (int d = 1; d <= n; ++d) {
    if (n % d == 0) all.push_back(d);
  }
  if (all.size() == 1) return "1";
  return fmt::format("{} or {}", fmt::join(all.begin(), all.end() - 1, ", "), all.back());
}

void servers(const Check& c) {
  const auto& p = c.job.placement;
  if (p.ranks_per_server > 0 && p.ranks % p.ranks_per_server != 0) {
    c.error("placement.ranksPerServer", "{} does not divide placement.ranks {} (use {})", p.ranks_per_server,
            p.ranks, divisors(p.ranks));
  }
  if (c.has("placement.levelWeights") && p.level_weights.size() != p.topology_levels.size()) {
    c.error("placement.levelWeights", "{} weights for {} topologyLevels (give one for each)",
            p.level_weights.size(), p.topology_levels.size());
  }
  if (c.has("placement.within") &&
      std::ranges::find(p.topology_levels, p.within) == p.topology_levels.end()) {
    c.error("placement.within", "'{}' is not among placement.topologyLevels (use {})", p.within,
            p.topology_levels.empty() ? "it with topologyLevels"
                                      : fmt::format("{}", fmt::join(p.topology_levels, ", ")));
  }
  if (c.job.resources.gpus > 0) {
    c.error("resources.nvidia.com/gpu",
            "ranks on GPUs are named in the manifest but not built yet; remove it to use CPUs");
  }
}

void loss_and_metric(const Check& c) {
  const auto& t = c.job.training;
  if (t.loss == Loss::kBinaryCrossEntropy && t.metric == Metric::kAccuracy) {
    c.error("training.metric",
            "accuracy needs one class per vertex, binaryCrossEntropy has several (use f1Micro or rocAuc)");
  }
}

/// What a model's definition leaves no room for.
void model_and_training(const Check& c) {
  const auto& t = c.job.training;
  const std::string& kind = c.job.model.kind;
  const bool drops_after =
      t.input_dropout.rate > 0 && t.input_dropout.position == DropoutPosition::kAfterAggregation;
  if (drops_after && (kind == "gat" || kind == "gcnii" || kind == "resgcn")) {
    c.error("training.inputDropout.position",
            "{} drops its input out before anything else (use beforeAggregation)", kind);
  }
}

void epochs(const Check& c) {
  const auto& t = c.job.training;
  if (t.schedule.warmup_epochs >= t.epochs) {
    c.error("training.learningRateSchedule.warmupEpochs",
            "{} leaves nothing of {} epochs (use less than training.epochs)", t.schedule.warmup_epochs,
            t.epochs);
  }
  if (t.schedule.kind == ScheduleKind::kCosine && t.schedule.minimum > t.optimizer.learning_rate) {
    c.error("training.learningRateSchedule.minimum",
            "{} is above training.optimizer.learningRate {} (use at most that)", t.schedule.minimum,
            t.optimizer.learning_rate);
  }
  if (t.early_stopping.patience > 0 && t.early_stopping.patience < t.evaluate_every) {
    c.error("training.earlyStopping.patience",
            "{} is shorter than training.evaluateEvery {} (use at least that)", t.early_stopping.patience,
            t.evaluate_every);
  }
}

void output_path(const Check& c) {
  if (c.has("output.path") && !stays_inside(c.job.output.path)) {
    c.error(
        "output.path",
        "'{}' must be a relative path without .. (locally it is inside ./runs; --output puts it elsewhere)",
        c.job.output.path);
  }
}

/// Fields that were given and that another field's value makes meaningless: by the table's used_with.
void unused_fields(const Check& c) {
  Job job = c.job;
  const auto fields = fields_for(c.job.model.kind, c.job.strategy.kind);
  for (const Field* field : fields) {
    if (field->used_with.path.empty() || !c.has(field->path)) continue;
    const Field* other = find_field(fields, field->used_with.path);
    const std::string value = value_text(*other, job);
    const auto& wanted = field->used_with.values;
    if (std::find(wanted.begin(), wanted.end(), value) != wanted.end()) continue;
    const std::string is = value.empty() ? "not given" : value;
    c.warning(field->path, "has no effect: {} is {} (used with {})", other->path, is,
              fmt::join(wanted, ", "));
  }
  const auto& input = c.job.training.input_dropout;
  if (c.has("training.inputDropout.position") && input.rate == 0) {
    c.warning("training.inputDropout.position", "has no effect: training.inputDropout.rate is 0");
  }
}

/// Fields that the chosen model or strategy doesn't read.
void ignored_by_kind(const Check& c) {
  const ModelInfo* model = find_model(c.job.model.kind);
  for (const auto& path : model ? model->ignores : std::vector<std::string>{}) {
    if (c.has(path)) c.warning(path, "has no effect with model {}", model->kind);
  }
  const StrategyInfo* strategy = find_strategy(c.job.strategy.kind);
  for (const auto& path : strategy ? strategy->ignores : std::vector<std::string>{}) {
    if (c.has(path)) c.warning(path, "has no effect with strategy {}", strategy->kind);
  }
}

}  // namespace

void check_rules(const Job& job, const Given& given, Problems& problems) {
  const Check check{job, given, problems};
  for (auto* rule : {required_fields, job_name, data_source, synthetic_shape, servers, loss_and_metric,
                     model_and_training, epochs, output_path, unused_fields, ignored_by_kind}) {
    rule(check);
  }
}

}  // namespace atl
