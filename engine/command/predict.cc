// atoll predict: writes a trained model's predictions on a data set, and its metrics where labels are known.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/text.h"
#include "base/threads.h"
#include "command/commands.h"
#include "command/job_data.h"
#include "command/run/output_folder.h"
#include "train/predictions.h"

namespace atl {
namespace {

void print(const char* vertices, const std::string& metric, const std::optional<double>& value) {
  if (value) std::printf("%-10s %s %s\n", vertices, metric.c_str(), percent_text(*value).c_str());
}

/// The folder for predictions: one for each data set, in the run's folder.
std::filesystem::path output_of(const Arguments& a, const std::filesystem::path& dataset) {
  const std::filesystem::path model = a.get("--model");
  std::error_code absent;
  if (!a.has("--output")) {
    const auto folder = std::filesystem::canonical(dataset, absent);
    return model / "predictions" / folder.filename();
  }
  if (std::filesystem::equivalent(a.get("--output"), model, absent))
    fail("--output: {} holds the run's own predictions (choose another folder)", a.get("--output"));
  if (std::filesystem::exists(std::filesystem::path(a.get("--output")) / "run.json"))
    fail("--output: {} is a run's folder, and holds that run's predictions (choose another)",
         a.get("--output"));
  return a.get("--output");
}

/// A file in the folder of predictions. It says to which data set the predictions belong.
std::filesystem::path owner_file(const std::filesystem::path& output) {
  return output / "dataset.txt";
}

/// Checks that the folder's predictions are this data set's. Data sets in different places may have folders
/// of the same name, and so the same folder for predictions.
void check_owner(const std::filesystem::path& output, const std::filesystem::path& dataset) {
  std::ifstream file(owner_file(output), std::ios::binary);
  const std::string owner{std::istreambuf_iterator<char>(file), {}};
  if (owner.empty() || owner == dataset.string()) return;
  fail(
      "{}: holds the predictions of {}, and {} is another data set whose folder has the same name (choose another "
      "folder with --output, or remove this one)",
      output.string(), owner, dataset.string());
}

int run_predict(const Arguments& a) {
  PredictOptions options;
  options.model = a.get("--model");
  if (std::filesystem::is_regular_file(options.model))
    fail(
        "--model: {} is a file; give the output folder of the run, which holds model.safetensors and the rest",
        options.model.string());
  options.dataset = stored_dataset(a.get("--dataset"));
  options.prepared = prepared_place(a);
  options.output = output_of(a, options.dataset);
  options.threads = int(a.integer("--threads", available_cores(), 1, 1024));
  options.probabilities = a.has("--probabilities");
  options.pairs = a.get("--pairs");
  const OutputLock lock(options.output, say);
  const std::filesystem::path dataset = std::filesystem::canonical(options.dataset);
  const bool by_name = !a.has("--output");
  if (by_name) check_owner(options.output, dataset);
  const Predicted predicted = predict(options);
  if (by_name) write_file_atomically(owner_file(options.output), dataset.string());
  for (const std::string& line : predicted.warnings) say("warning: " + line);
  const Evaluation& e = predicted.metrics;
  print("training", predicted.metric, e.train);
  print("validation", predicted.metric, e.validation);
  if (predicted.links) std::printf("test pairs %s\n", links_text(*predicted.links).c_str());
  print(predicted.by_split ? "test" : "labelled", predicted.metric, e.test);
  std::printf("predictions in %s\n", options.output.c_str());
  return 0;
}

}  // namespace

Command predict_command() {
  return {
      "predict",
      "predict the class of every vertex, or edges between pairs, with a trained model; needs no labels",
      {{"--model", "RUN", "output folder of the run that trained the model", true},
       {"--dataset", "DIR", "folder of the data set, or its name under the data root", true},
       {"--output", "DIR",
        "folder for predictions.npy (RUN/predictions/ and the name of the data set's folder)"},
       {"--probabilities", "", "also write probabilities.npy, one column per class"},
       {"--pairs", "FILE",
        "write pair_scores.npy, the probability of an edge for each pair of FILE: .npy (pairs, 2), or two ids per line, text or .gz"},
       prepared_argument(),
       {"--threads", "N", "number of threads (all cores)"}},
      run_predict};
}

}  // namespace atl
