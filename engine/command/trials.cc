#include "command/trials.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/readable.h"
#include "command/run/job_room.h"
#include "dataset/subset.h"
#include "plan/compare/trial.h"
#include "plan/job_plan.h"
#include "plan/shortfall.h"
#include "train/labels.h"

namespace atl {
namespace {

constexpr Index kWholeVertices = 1 << 15, kWholeArcs = 1'000'000;  // of a graph that is tried as it is
constexpr Index kPart = 1 << 14;                                   // vertices of a larger one
constexpr double kPoints = 0.005;                                  // below graph's best: good enough
constexpr std::int64_t kPatience = 3;                              // times as many steps as graph
constexpr std::int64_t kFewSteps = 20;

double step_seconds(const ComparedStrategy& row) {
  return row.forecast.row.epoch / row.forecast.steps;
}

/// In a data set's folder, and gone with this.
class TrialFolder {
 public:
  explicit TrialFolder(const std::filesystem::path& dataset) {
    std::string path = (dataset / "trial-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr)
      fail("{}: a folder for a trial can't be made in it (strategy.trial: 0 does without)", dataset.string());
    path_ = path;
  }
  ~TrialFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TrialFolder(const TrialFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Of a large data set a part.
class TriedData {
 public:
  TriedData(const Dataset& whole, const Job& job) : whole_(whole) {
    const DatasetMeta& meta = whole.meta();
    if (meta.vertices <= kWholeVertices && meta.arcs <= kWholeArcs) return;
    if (job.task == Task::kLinkPrediction)
      fail("a graph of {} vertices would be tried on a part, which has no edge split (task linkPrediction)",
           count_text(meta.vertices));
    folder_.emplace(whole.folder());
    const auto vertices =
        drawn_neighbourhood(whole.graph(), training_marks(whole, job), kPart, job.training.seed);
    const std::filesystem::path place = folder_->path() / "part";
    write_subset(whole, vertices, job.dataset.split, job.dataset.split_column, place);
    part_ = Dataset::open(place);
  }

  const Dataset& get() const { return part_ ? *part_ : whole_; }
  std::string name() const {
    return part_ ? fmt::format("{} of its {} vertices", count_text(get().meta().vertices),
                               count_text(whole_.meta().vertices))
                 : "this graph";
  }

 private:
  const Dataset& whole_;
  std::optional<TrialFolder> folder_;  // of part_
  std::optional<Dataset> part_;
};

class Trials {
 public:
  Trials(Comparison& comparison, const Dataset& dataset, std::int64_t steps,
         const std::function<LoadedJob(const std::string&)>& job_of, Say say)
      : comparison_(comparison),
        dataset_(dataset),
        graph_(job_of("strategy={kind: graph}")),
        asked_(steps),
        steps_(std::min(steps, std::int64_t(graph_.job.training.epochs))),
        job_of_(job_of),
        say_(say) {}

  void run() {
    std::vector<ComparedStrategy*> all = candidates();
    if (all.empty())
      return say_("nothing is tried: of what isn't exact, nothing has a shorter step than what is");
    data_.emplace(dataset_, graph_.job);
    tell(all);
    const std::vector<TrialPoint> curve = train(graph_, steps_, std::numeric_limits<double>::infinity());
    if (curve.empty())
      return say_(
          "nothing more is tried: graph comes to no validation metric (no validation vertices, a loss that isn't finite, or fewer "
          "steps than an epoch has)");
    wanted_ = std::ranges::max(curve, {}, &TrialPoint::validation).validation - kPoints;
    graphs_ = *reached(curve);
    say_(fmt::format("graph gets to within half a point of its best, {:.4f}, in {}", wanted_ + kPoints,
                     counted_text(graphs_, "step")));
    best_ = fastest_exact() * double(graphs_);
    for (ComparedStrategy* each : all) {
      try {
        try_one(*each);
      } catch (const Error& error) {
        say_(fmt::format("{} can't be tried: {}", each->label, error.what()));
      }
    }
  }

 private:
  std::vector<ComparedStrategy*> candidates() {
    std::vector<ComparedStrategy*> all;
    const double exact = fastest_exact();
    for (ComparedStrategy& row : comparison_.rows)
      if (row.refused.empty() && !row.exact && step_seconds(row) < exact) all.push_back(&row);
    std::ranges::stable_sort(all, {}, [](const ComparedStrategy* row) { return step_seconds(*row); });
    return all;
  }

  void tell(const std::vector<ComparedStrategy*>& all) const {
    std::vector<std::string> names;
    for (const ComparedStrategy* each : all) names.push_back(each->label);
    say_(fmt::format("trying graph for {}{} on {}, and then {} (strategy.trial)",
                     counted_text(steps_, "step"), steps_ < asked_ ? ", all that training.epochs has," : "",
                     data_->name(), fmt::join(names, ", ")));
    if (steps_ < kFewSteps) say_("warning: so few steps say little about what longer training comes to");
  }

  /// Of a step; infinite where none can be.
  double fastest_exact() const {
    double fastest = std::numeric_limits<double>::infinity();
    for (const ComparedStrategy& row : comparison_.rows)
      if (row.refused.empty() && row.exact) fastest = std::min(fastest, step_seconds(row));
    return fastest;
  }

  std::vector<TrialPoint> train(const LoadedJob& loaded, std::int64_t steps, double wanted) const {
    const PreparedGraph prepared = prepare_graph(loaded, data_->get(), [](const std::string&) {});
    const auto shortfall = shortfall_here(memory_plan(loaded.job, data_->get(), prepared, 1), memory_room());
    if (shortfall && shortfall->certain) fail("{}", shortfall->text);
    return train_for(loaded.job, data_->get(), prepared, comparison_.topology.hosts(), steps, wanted);
  }

  std::optional<std::int64_t> reached(const std::vector<TrialPoint>& curve) const {
    const auto found =
        std::ranges::find_if(curve, [&](const TrialPoint& point) { return point.validation >= wanted_; });
    if (found == curve.end()) return {};
    return found->steps;
  }

  /// No further than where the best so far would be there.
  void try_one(ComparedStrategy& row) {
    const std::int64_t most = kPatience * steps_,
                       affordable = std::int64_t(std::min(double(most), best_ / step_seconds(row)));
    if (affordable == 0) return;
    const auto steps = reached(train(job_of_(row.change), affordable, wanted_));
    const bool never = !steps && affordable == most;
    Effect effect = row.effect.value_or(Effect{});
    effect.tried_on = data_->name();
    effect.length = never ? std::numeric_limits<double>::infinity()
                          : double(steps.value_or(affordable + 1)) / double(graphs_);
    row.effect = effect;
    say_(fmt::format("{} {} {}", row.label, steps ? "gets there in" : "isn't there after",
                     counted_text(steps.value_or(affordable), "step")));
    if (steps) best_ = std::min(best_, step_seconds(row) * double(*steps));
  }

  Comparison& comparison_;
  const Dataset& dataset_;
  LoadedJob graph_;
  std::optional<TriedData> data_;
  std::int64_t asked_, steps_;  // of graph, by strategy.trial and in fact
  const std::function<LoadedJob(const std::string&)>& job_of_;
  Say say_;
  double wanted_ = 0, best_ = 0;  // the metric; seconds until the fastest so far has it
  std::int64_t graphs_ = 0;       // steps until graph has it
};

}  // namespace

void try_strategies(Comparison& comparison, const Dataset& dataset, std::int64_t steps,
                    const std::function<LoadedJob(const std::string& change)>& job_of, Say say) {
  try {
    Trials(comparison, dataset, steps, job_of, say).run();
  } catch (const Error& error) {
    say(fmt::format("no strategy is tried: {}", error.what()));
  }
}

}  // namespace atl
