// Tries strategies before one is chosen (strategy.trial). Whether an inexact strategy learns differs between
// graphs and models more than stored runs can tell. So the strategies that could win are trained for a while
// beside `graph`.
#include "command/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/threads.h"
#include "command/run/job_room.h"
#include "compare/comparison.h"
#include "dataset/subset.h"
#include "plan/job_plan.h"
#include "train/labels.h"

namespace atl {
namespace {

constexpr Index kWholeVertices = 1 << 15, kWholeArcs = 1'000'000;  // the largest graph that is tried whole
constexpr Index kPart = 1 << 14;       // vertices of the part that stands for a larger graph
constexpr std::int64_t kPatience = 3;  // visits of each vertex, as a multiple of `graph`'s
// `graph` may take a third of the trial's time. The other strategies share the rest: one that learns at all
// needs fewer steps to get there than graph's whole curve has.
constexpr double kOfGraph = 1.0 / 3;

/// A temporary folder for prepared graphs of a data set; it is removed with the object.
class TrialFolder {
 public:
  explicit TrialFolder(const std::filesystem::path& place) {
    std::error_code error;
    std::filesystem::create_directories(place, error);
    std::string path = (place / "trial-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr)
      fail(
          "{}: a folder for a trial can't be made in it: {} (strategy.trial: 0 does without; --prepared names another place)",
          place.string(), std::strerror(errno));
    path_ = path;
    at_stop_.emplace([this] { remove(); });
  }
  ~TrialFolder() { remove(); }
  TrialFolder(const TrialFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::filesystem::path path_;
  std::optional<AtStop> at_stop_;
};

bool is_tried_whole(const DatasetMeta& meta) {
  return meta.vertices <= kWholeVertices && meta.arcs <= kWholeArcs;
}

/// The data set or, if it is large, a part of it.
class TriedData {
 public:
  TriedData(const Dataset& whole, const Job& job) : whole_(whole) {
    const DatasetMeta& meta = whole.meta();
    if (is_tried_whole(meta)) return;
    if (job.task == Task::kLinkPrediction)
      fail("a graph of {} vertices would be tried on a part, which has no edge split (task linkPrediction)",
           count_text(meta.vertices));
    folder_.emplace(whole.prepared_folder());
    const auto vertices =
        drawn_neighbourhood(whole.graph(), training_marks(whole, job).bytes(), kPart, job.training.seed);
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
  std::optional<TrialFolder> folder_;  // folder of part_
  std::optional<Dataset> part_;
};

class Trials {
 public:
  Trials(Comparison& comparison, const Dataset& dataset, const TrialBounds& bounds,
         const std::function<LoadedJob(const std::string&)>& job_of, Say say)
      : comparison_(comparison),
        dataset_(dataset),
        graph_(job_of("strategy={kind: graph}")),
        bounds_(bounds),
        steps_(std::min(bounds.steps, std::int64_t(graph_.job.training.epochs))),
        job_of_(job_of),
        say_(say) {}

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

  void run() {
    std::vector<ComparedStrategy*> all = candidates();
    if (all.empty())
      return say_("nothing is tried: of what isn't exact, nothing has a shorter step than what is");
    // Without this bound, a trial could cost more than it saves if the likely winner is far ahead.
    if (const ComparedStrategy* likely = comparison_.best(false))
      room_ = bounds_.share * of_training(*comparison_.cost(*likely));
    const ComparedStrategy& first = *all.front();
    std::erase_if(all, [&](const ComparedStrategy* row) { return !is_worth(*row); });
    if (all.empty()) return say_(not_worth_text(first));
    data_.emplace(dataset_, graph_.job);
    tell(all);
    const auto [curve, out_of_time] =
        train(graph_, {.steps = steps_, .seconds = kOfGraph * room_, .when_settled = true});
    if (out_of_time && !is_settled(curve))
      return say_(fmt::format(
          "nothing more is tried: graph still learns after {}, when its part of the time is over ({})",
          counted_text(curve.empty() ? 0 : curve.back().steps, "step"), room_text()));
    if (curve.empty())
      return say_(
          "nothing more is tried: graph comes to no validation metric (no validation vertices, a loss that isn't finite, or fewer "
          "steps than an epoch has)");
    steps_ = curve.back().steps;
    wanted_ = std::ranges::max(curve, {}, &TrialPoint::validation).validation - kGoodEnough;
    graphs_ = *reached(curve, wanted_);
    say_(fmt::format("graph gets to within half a point of its best, {:.4f}, in {}", wanted_ + kGoodEnough,
                     counted_text(graphs_, "step")));
    best_ = fastest_exact() * double(graphs_);
    for (ComparedStrategy* each : all) {
      if (left() <= 0) {
        say_(fmt::format("{} isn't tried: the time of the trial is over ({})", each->label, room_text()));
        continue;
      }
      if (!is_worth(*each)) {
        say_(fmt::format("{} isn't tried: after what was tried before, that saves too little", each->label));
        continue;
      }
      try {
        try_one(*each);
      } catch (const Error& error) {
        say_(fmt::format("{} can't be tried: {}", each->label, error.what()));
        // Lengths on other graphs can't be compared with lengths on this one.
        if (each->effect) each->effect->lengths.guessed = true;
      }
    }
  }

 private:
  /// The inexact strategies whose steps are faster than those of exact ones. The one whose trial may save
  /// most comes first, because time may be over before the last is tried.
  std::vector<ComparedStrategy*> candidates() {
    std::vector<ComparedStrategy*> all;
    const double exact = fastest_exact();
    for (ComparedStrategy& row : comparison_.rows)
      if (row.refused.empty() && !row.exact && row.step_seconds() < exact) all.push_back(&row);
    std::ranges::stable_sort(all, std::greater{},
                             [&](const ComparedStrategy* row) { return comparison_.saving(*row); });
    return all;
  }

  /// Whether there is time for a trial of the row, and the trial saves more on average than it takes at
  /// least. A trial without bounds is always worth it, because its user wants the figures.
  bool is_worth(const ComparedStrategy& row) const {
    const double graphs = few_steps(comparison_.plain()), all = graphs + few_steps(&row);
    return !std::isfinite(bounds_.share) ||
           (graphs < kOfGraph * room_ && all < room_ && all < of_training(comparison_.saving(row)));
  }

  std::string not_worth_text(const ComparedStrategy& row) const {
    return fmt::format(
        "nothing is tried: {} steps of graph and of {} take at least {} here, a trial may take {} (strategy.trialShare), and "
        "what it tells would save {} on average",
        kFewSteps, row.label, duration_text(few_steps(comparison_.plain()) + few_steps(&row)),
        duration_text(room_), duration_text(of_training(comparison_.saving(row))));
  }

  /// Seconds of the whole training, from the seconds for each step of `graph`.
  double of_training(double step) const { return step * double(graph_.job.training.epochs); }

  /// The least seconds that a few steps compute here; evaluations and messages take further time. 0 if `row`
  /// is null.
  double few_steps(const ComparedStrategy* row) const {
    if (row == nullptr) return 0;
    const DatasetMeta& meta = dataset_.meta();
    const double part = is_tried_whole(meta) ? 1 : double(kPart) / double(meta.vertices);
    const int ranks = comparison_.topology.ranks(), at_once = std::min(ranks, available_cores());
    return double(kFewSteps) * part * bounds_.threads * ranks / at_once * row->forecast.row.compute /
           row->forecast.steps;
  }

  /// Seconds that the trial still has.
  double left() const { return room_ - seconds(); }
  std::string room_text() const {
    return fmt::format(
        "{} at most, {:.4g} of what training is predicted to take; strategy.trialShare gives more",
        duration_text(room_), bounds_.share);
  }

  void tell(const std::vector<ComparedStrategy*>& all) const {
    std::vector<std::string> names;
    for (const ComparedStrategy* each : all) names.push_back(each->label);
    say_(fmt::format(
        "trying graph for {} at most{} on {}, and then {} (strategy.trial)", counted_text(steps_, "step"),
        steps_ < bounds_.steps ? ", all that training.epochs has," : "", data_->name(), joined(names, ", ")));
    if (steps_ < kFewSteps) say_("warning: so few steps say little about what longer training comes to");
  }

  /// Seconds of a step of the fastest exact strategy; infinite if no exact strategy is possible.
  double fastest_exact() const {
    double fastest = std::numeric_limits<double>::infinity();
    for (const ComparedStrategy& row : comparison_.rows)
      if (row.refused.empty() && row.exact) fastest = std::min(fastest, row.step_seconds());
    return fastest;
  }

  TrialCurve train(const LoadedJob& loaded, const TrialEnd& end) const {
    const PreparedGraph prepared = prepare_graph(loaded, data_->get(), [](const std::string&) {});
    const auto shortfall = shortfall_here(memory_plan(loaded.job, data_->get(), prepared, 1), memory_room());
    if (shortfall && shortfall->certain) fail("{}", shortfall->text);
    return train_for(loaded.job, data_->get(), prepared, comparison_.topology.hosts(), end);
  }

  /// Tries a strategy. Trains it at most until the best strategy so far would have finished.
  void try_one(ComparedStrategy& row) {
    const auto affordable =
        std::int64_t(std::min(double(most_steps(row.forecast.steps)), best_ / row.step_seconds()));
    std::optional<std::int64_t> steps;
    if (affordable > 0) {
      const auto [curve, out_of_time] = train(job_of_(row.change), {affordable, wanted_, left()});
      steps = reached(curve, wanted_);
      if (!steps && out_of_time) {
        const std::int64_t trained = curve.empty() ? 0 : curve.back().steps;
        const bool is_slower = enter_unfinished_trial(comparison_, row, data_->name(), trained, graphs_);
        return say_(fmt::format("{} isn't there when the time of the trial is over ({}){}", row.label,
                                room_text(),
                                is_slower ? ", and was known to be there sooner on other graphs" : ""));
      }
    }
    enter_trial(row, data_->name(), steps, affordable, graphs_);
    if (affordable == 0)
      return say_(fmt::format(
          "{} isn't trained: one step of it takes longer than the best so far does until it is there",
          row.label));
    say_(fmt::format("{} {} {}", row.label, steps ? "gets there in" : "isn't there after",
                     counted_text(steps.value_or(affordable), "step")));
    if (steps) best_ = std::min(best_, row.step_seconds() * double(*steps));
  }

  /// The most steps of a strategy with `of_epoch` steps per epoch, for kPatience times as many visits of each
  /// vertex as `graph` has. An epoch on a part of the graph has fewer steps.
  std::int64_t most_steps(double of_epoch) const {
    const double share = double(data_->get().meta().vertices) / double(dataset_.meta().vertices);
    return std::int64_t(double(kPatience * steps_) * std::max(1.0, std::ceil(share * of_epoch)));
  }

  Comparison& comparison_;
  const Dataset& dataset_;
  LoadedJob graph_;
  std::optional<TriedData> data_;
  TrialBounds bounds_;
  std::int64_t steps_;  // steps of `graph`: the bounds', or fewer by training.epochs or the time
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double room_ = std::numeric_limits<double>::infinity();  // seconds of the whole trial
  const std::function<LoadedJob(const std::string&)>& job_of_;
  Say say_;
  double wanted_ = 0, best_ = 0;  // metric to reach; seconds in which the fastest strategy so far reaches it
  std::int64_t graphs_ = 0;       // steps in which graph reaches it
};

}  // namespace

void try_strategies(Comparison& comparison, const Dataset& dataset, const TrialBounds& bounds,
                    const std::function<LoadedJob(const std::string& change)>& job_of, Say say) {
  try {
    Trials trials(comparison, dataset, bounds, job_of, say);
    trials.run();
    comparison.trial_seconds = trials.seconds();
  } catch (const Error& error) {
    say(fmt::format("no strategy is tried: {}", error.what()));
  }
}

}  // namespace atl
